import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { BatchView } from '../../../../src/core/batch/batch.ts';
import { batchQuery } from './batch-queries.ts';
import { BatchBadge } from './batch-badge.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Facts, Panel } from '../../parts/panel.tsx';
import { Screen, Waiting } from '../../parts/screen.tsx';
import { batchSentence, batchTitle } from '../../words/batches/batch-words.ts';
import { BatchActions } from './batch-actions.tsx';
import { BatchBar } from './batch-bar.tsx';
import { BatchJobs } from './batch-jobs.tsx';
import { CallbacksPanel } from './callbacks-panel.tsx';

const route = getRouteApi('/batches/$batchId');

export function BatchScreen() {
  const { batchId } = route.useParams();
  const { data: batch, error } = useQuery(batchQuery(batchId));
  if (!batch) {
    return (
      <Screen title="Batch">
        <Waiting error={error} />
      </Screen>
    );
  }
  return (
    <Screen
      title={batchTitle(batch)}
      heading={
        <>
          <BatchBadge status={batch.status} />
          {batchTitle(batch)}
        </>
      }
      actions={<BatchActions batch={batch} />}
    >
      <p className="sentence" role="status">
        {batchSentence(batch)}
      </p>
      {batch.total > 0 && <BatchBar counts={batch} />}
      <div className="columns">
        <div>
          <BatchJobs batch={batch} />
        </div>
        <div>
          <CallbacksPanel batch={batch} />
          <About batch={batch} />
        </div>
      </div>
    </Screen>
  );
}

function About({ batch: { id, createdAt, closedAt, endedAt } }: { batch: BatchView }) {
  return (
    <Panel title="About">
      <Facts
        facts={[
          ['Id', <code className="whole-id">{id}</code>],
          ['Created', <Moment at={createdAt} />],
          ['Closed', closedAt && <Moment at={closedAt} />],
          ['Ended', endedAt && <Moment at={endedAt} />],
          [
            'History',
            <Link to="/jobs/$jobId" params={{ jobId: id }}>
              View its job
            </Link>,
          ],
          [
            'Changes',
            <Link to="/audit" search={{ subject: id }}>
              Who and when
            </Link>,
          ],
        ]}
      />
      <div className="copies">
        <CopyButton text={id} label="Copy id" />
        <CopyButton text={location.href} label="Copy link" />
      </div>
    </Panel>
  );
}
