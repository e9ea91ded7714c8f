import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { BATCH_KEY } from '../../../../src/core/batch/batch.ts';
import type { RelatedJob } from '../../../../src/core/dependency/related.ts';
import type { JobView } from '../../../../src/core/job/job.ts';
import { relatedQuery } from '../../api/queries.ts';
import { Panel } from '../../parts/panel.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { shortId } from '../../../../src/core/job/short-id.ts';
import {
  childrenSummary,
  childrenTitle,
  FAILED_SHOWN,
  jobGraph,
  spawnerTitle,
} from '../../words/job-page/job-graph.ts';
import { JobGraph } from './job-graph.tsx';

/** The jobs that this one waits for, those that were enqueued after it, its children and its parent. */
export function RelatedPanel({ job }: { job: JobView }) {
  const { data } = useQuery(relatedQuery(job.jobId));
  const graph = data && jobGraph(job, data);
  if (!graph) return null;
  const { parents, followers, moreFollowers, spawnedBy, children, failedChildren } = data;
  const summary = childrenSummary(data);
  return (
    <Panel title="Related jobs">
      <JobGraph graph={graph} />
      {summary !== '' && (
        <p className="soft">
          {childrenTitle(data)}. {summary}
        </p>
      )}
      <details className="related">
        <summary>Related jobs as a list</summary>
        <RelatedList title="Runs after" jobs={parents} />
        <RelatedList title={spawnerTitle(spawnedBy)} jobs={spawnedBy === null ? [] : [spawnedBy]} />
        {failedChildren.length > FAILED_SHOWN && (
          <RelatedList title="Failed children" jobs={failedChildren} />
        )}
        <RelatedList title={childrenTitle(data)} jobs={children} />
        {data.childrenTotal > children.length && (
          <p className="soft">These are the first {children.length} children.</p>
        )}
        <RelatedList title="Followed by" jobs={followers} />
        {moreFollowers && <p className="soft">There are more followers than these.</p>}
      </details>
    </Panel>
  );
}

function RelatedList({ title, jobs }: { title: string; jobs: readonly RelatedJob[] }) {
  if (jobs.length === 0) return null;
  return (
    <section aria-label={`${title}, as a list`}>
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
              <RelatedLink jobId={jobId} definitionKey={definitionKey} />
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function RelatedLink({ jobId, definitionKey }: { jobId: string; definitionKey: string }) {
  if (definitionKey === BATCH_KEY) {
    return (
      <Link to="/batches/$batchId" params={{ batchId: jobId }}>
        batch <code>{shortId(jobId)}</code>
      </Link>
    );
  }
  return (
    <Link to="/jobs/$jobId" params={{ jobId }}>
      {definitionKey} <code>{shortId(jobId)}</code>
    </Link>
  );
}
