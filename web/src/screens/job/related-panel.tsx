import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { RelatedJob } from '../../../../src/core/dependency/related.ts';
import type { JobView } from '../../../../src/core/job/job.ts';
import { relatedQuery } from '../../api/queries.ts';
import { Panel } from '../../parts/panel.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { shortId } from '../../../../src/core/job/short-id.ts';

/** The jobs that this one waits for, those that were enqueued after it, its children and its parent. */
export function RelatedPanel({ job }: { job: JobView }) {
  const { data } = useQuery(relatedQuery(job.jobId));
  if (!data) return null;
  const { parents, followers, moreFollowers, spawnedBy, children, childrenTotal } = data;
  const spawners = spawnedBy === null ? [] : [spawnedBy];
  if (parents.length + followers.length + spawners.length + children.length === 0) return null;
  const ended = childrenTotal - data.childrenOpen;
  return (
    <Panel title="Related jobs">
      <div className="related">
        <RelatedList title="Runs after" jobs={parents} />
        <RelatedList title="Spawned by" jobs={spawners} />
        <RelatedList title={`Children: ${ended} of ${childrenTotal} ended`} jobs={children} />
        {childrenTotal > children.length && (
          <p className="soft">These are the first {children.length} children.</p>
        )}
        <RelatedList title="Followed by" jobs={followers} />
        {moreFollowers && <p className="soft">There are more followers than these.</p>}
      </div>
    </Panel>
  );
}

function RelatedList({ title, jobs }: { title: string; jobs: readonly RelatedJob[] }) {
  if (jobs.length === 0) return null;
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <ul>
        {jobs.map(({ jobId, definitionKey, status }) => (
          <li key={jobId}>
            {status === null ? (
              <span className="soft">unknown</span>
            ) : (
              <StateBadge state={status} />
            )}{' '}
            {definitionKey === null ? (
              <span className="soft">{shortId(jobId)} (deleted)</span>
            ) : (
              <Link to="/jobs/$jobId" params={{ jobId }}>
                {definitionKey} <code>{shortId(jobId)}</code>
              </Link>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
