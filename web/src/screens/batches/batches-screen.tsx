import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { BatchView } from '../../../../src/core/batch/batch.ts';
import { batchesQuery } from './batch-queries.ts';
import { BatchBadge } from './batch-badge.tsx';
import { Command } from '../../parts/copy-button.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Pages } from '../../parts/pages.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Empty, Screen, Waiting } from '../../parts/screen.tsx';
import { apiUrl, serverAddress } from '../../runtime/urls.ts';
import { amount, batchTitle } from '../../words/batches/batch-words.ts';
import { urlFlag } from '../../words/shell.ts';
import { BatchBar } from './batch-bar.tsx';

const route = getRouteApi('/batches');

/** Batches, the newest first, with the progress of each. */
export function BatchesScreen() {
  const { cursor } = route.useSearch();
  const { data: page, error } = useQuery(batchesQuery(cursor));
  return (
    <Screen title="Batches">
      {page === undefined ? (
        <Waiting error={error} />
      ) : page.batches.length === 0 && cursor === undefined ? (
        <NoBatches />
      ) : (
        <BatchTable batches={page.batches} />
      )}
      {page && <Pages to="/batches" search={{ cursor }} nextCursor={page.nextCursor} />}
    </Screen>
  );
}

function NoBatches() {
  const create = ['npx longshore batch create jobs.jsonl', ...urlFlag(serverAddress)].join(' ');
  return (
    <Empty title="No batches yet.">
      <p>
        A batch is a set of jobs that end together, with a job that runs after the last. Make one
        with <code>client.batch(jobs, {'{ onComplete }'})</code>, or of a file that has a job per
        line, such as <code>{'{"definitionKey":"hello","params":{}}'}</code>:
      </p>
      <Command text={create} />
      <p>
        <a href={apiUrl('/docs/guides/batches')}>More about batches</a>
      </p>
    </Empty>
  );
}

function BatchTable({ batches }: { batches: readonly BatchView[] }) {
  return (
    <Rows
      caption="Batches, newest first"
      rows={batches}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Status',
          titled: 'in-head',
          kind: 'short',
          cell: ({ status }) => <BatchBadge status={status} />,
        },
        {
          title: 'Name',
          titled: 'in-head',
          cell: (batch) => (
            <Link
              to="/batches/$batchId"
              params={{ batchId: batch.id }}
              className="row-link whole-word"
              data-row
            >
              {batchTitle(batch)}
            </Link>
          ),
        },
        {
          title: 'Progress',
          titled: 'in-head',
          kind: 'wide',
          cell: (batch) => <BatchBar counts={batch} />,
        },
        { title: 'Jobs', kind: 'number', cell: ({ total }) => amount(total) },
        { title: 'Created', kind: 'short', cell: ({ createdAt }) => <Moment at={createdAt} /> },
      ]}
    />
  );
}
