import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type BatchView, MEMBER_STATES } from '../../../../src/core/batch/batch.ts';
import { shortId } from '../../../../src/core/job/short-id.ts';
import { batchJobsQuery } from './batch-queries.ts';
import { Pages } from '../../parts/pages.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Waiting } from '../../parts/screen.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { amount } from '../../words/batches/batch-words.ts';
import { sentenceCase } from '../../words/jobs/job-words.ts';

const route = getRouteApi('/batches/$batchId');

/** The jobs of a batch in the order in which they were added, all or those in one state. */
export function BatchJobs({ batch }: { batch: BatchView }) {
  const search = route.useSearch();
  const { data: page, error } = useQuery(batchJobsQuery(batch.id, search));
  return (
    <Panel title="Jobs" flush>
      <nav className="tabs batch-tabs" aria-label="States of the jobs">
        {([undefined, ...MEMBER_STATES] as const).map((state) => (
          <Link
            key={state ?? 'all'}
            to="/batches/$batchId"
            params={{ batchId: batch.id }}
            search={state ? { state } : {}}
            aria-current={state === search.state ? 'page' : undefined}
          >
            {sentenceCase(state ?? 'all')}{' '}
            <span className="count">{amount(batch[state ?? 'total'])}</span>
          </Link>
        ))}
      </nav>
      {page === undefined ? (
        <Waiting error={error} />
      ) : page.jobs.length === 0 ? (
        <p className="soft pad">{search.state ? `No ${search.state} jobs.` : 'No jobs.'}</p>
      ) : (
        <Rows
          caption="Jobs of the batch"
          rows={page.jobs}
          keyOf={({ jobId }) => jobId}
          className="batch-jobs"
          columns={[
            {
              title: 'State',
              titled: 'in-head',
              kind: 'short',
              cell: ({ status }) =>
                status === null ? (
                  <span className="soft">unknown</span>
                ) : (
                  <StateBadge state={status} />
                ),
            },
            {
              title: 'Job',
              titled: 'in-head',
              kind: 'wide',
              cell: ({ jobId, definitionKey }) =>
                definitionKey === null ? (
                  <span className="soft">{shortId(jobId)} (deleted)</span>
                ) : (
                  <Link to="/jobs/$jobId" params={{ jobId }} className="row-link" data-row>
                    {definitionKey} <code>{shortId(jobId)}</code>
                  </Link>
                ),
            },
            { title: 'Place', kind: 'number', cell: ({ position }) => amount(position + 1) },
          ]}
        />
      )}
      {page && (
        <Pages
          to="/batches/$batchId"
          params={{ batchId: batch.id }}
          search={search}
          nextCursor={page.nextCursor}
        />
      )}
    </Panel>
  );
}
