import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { BatchView } from '../../../../src/core/batch/batch.ts';
import { shortId } from '../../../../src/core/job/short-id.ts';
import { relatedQuery } from '../../api/queries.ts';
import { Panel } from '../../parts/panel.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';

const CALLBACKS = {
  onComplete: 'Runs when all jobs have ended.',
  onSuccess: 'Runs when all jobs have succeeded.',
} as const;

/** The jobs that run after a batch, with their states. */
export function CallbacksPanel({ batch }: { batch: BatchView }) {
  const { data } = useQuery(relatedQuery(batch.id));
  const fields = (['onComplete', 'onSuccess'] as const).filter((field) => batch[field] !== null);
  const own = new Set([batch.onComplete, batch.onSuccess]);
  const others = (data?.followers ?? []).filter(({ jobId }) => !own.has(jobId));
  const stateOf = (jobId: string) => data?.followers.find((one) => one.jobId === jobId);
  return (
    <Panel title="Callbacks">
      {fields.length === 0 && others.length === 0 && (
        <p className="soft">None: no job runs after this batch.</p>
      )}
      <ul className="callbacks">
        {fields.map((field) => (
          <li key={field}>
            <h3>{field}</h3>
            <p className="soft">{CALLBACKS[field]}</p>
            <Follower jobId={batch[field] ?? ''} of={stateOf(batch[field] ?? '')} known={!!data} />
          </li>
        ))}
        {others.length > 0 && (
          <li>
            <h3>Also after it</h3>
            {others.map((job) => (
              <Follower key={job.jobId} jobId={job.jobId} of={job} known />
            ))}
            {data?.moreFollowers && <p className="soft">There are more than these.</p>}
          </li>
        )}
      </ul>
    </Panel>
  );
}

type Related = {
  definitionKey: string | null;
  status: Parameters<typeof StateBadge>[0]['state'] | null;
};

function Follower({
  jobId,
  of,
  known,
}: {
  jobId: string;
  of: Related | undefined;
  /** Whether the server has answered: then a job that is not there is deleted. */
  known: boolean;
}) {
  if (!of || of.definitionKey === null || of.status === null) {
    const note = known ? '(deleted)' : '';
    return (
      <p className="soft">
        {shortId(jobId)} {note}
      </p>
    );
  }
  return (
    <p>
      <StateBadge state={of.status} />{' '}
      <Link to="/jobs/$jobId" params={{ jobId }}>
        {of.definitionKey} <code>{shortId(jobId)}</code>
      </Link>
    </p>
  );
}
