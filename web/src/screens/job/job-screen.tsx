import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { JobView } from '../../../../src/core/job/job.ts';
import { isRefused } from '../../api/problem-error.ts';
import { attemptsQuery, jobQuery } from '../../api/queries.ts';
import { LargeValuePanel } from './large-value-panel.tsx';
import { JsonPanel } from '../../parts/json-panel.tsx';
import { Empty, Screen, Waiting } from '../../parts/screen.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { addressFor } from '../../runtime/tenant.ts';
import { useNow } from '../../runtime/clock.ts';
import { shortId } from '../../../../src/core/job/short-id.ts';
import { killedWords } from '../../words/job-page/attempt-words.ts';
import { headline } from '../../words/job-page/headline.ts';
import { textOf } from '../../words/url-search.ts';
import { AttemptTable } from './attempt-table.tsx';
import { ErrorPanel } from './error-panel.tsx';
import { EventList } from './event-list.tsx';
import { JobActions } from './job-actions.tsx';
import { JobFacts } from './job-facts.tsx';
import { JobMeta } from './job-meta.tsx';
import { LogPanel } from './log-panel.tsx';
import { OutputPanel } from './output-panel.tsx';
import { RelatedPanel } from './related-panel.tsx';
import { ResultPanel } from './result-panel.tsx';
import { SignalPanel } from './signal-panel.tsx';
import { StepsPanel } from './steps-panel.tsx';
import { TimelinePanel } from './timeline-panel.tsx';
import { WhyPanel } from './why-panel.tsx';

const route = getRouteApi('/jobs/$jobId');

/** `from` is the job that this one repeats ("Copy as new job…"). */
export function jobSearch(search: Record<string, unknown>): { from?: string } {
  const from = textOf(search, 'from');
  return from === undefined ? {} : { from };
}

export function JobScreen() {
  const { jobId } = route.useParams();
  const { data: job, error } = useQuery(jobQuery(jobId));
  if (!job) {
    return (
      <Screen title="Job">
        {isRefused(error) && error.tenant !== null ? (
          <Empty title={`This job belongs to tenant ${error.tenant}.`}>
            <p>
              <a href={addressFor(`/jobs/${jobId}`, error.tenant)}>Open it</a>
            </p>
          </Empty>
        ) : (
          <Waiting error={error} />
        )}
      </Screen>
    );
  }
  return (
    <Screen
      title={job.definitionKey}
      heading={
        <>
          <StateBadge state={job.status} />
          <Link to="/jobs" search={{ definitionKey: job.definitionKey }}>
            {job.definitionKey}
          </Link>
        </>
      }
      actions={<JobActions job={job} />}
    >
      <JobSentence job={job} />
      <Origin job={job} />
      <div className="columns">
        <div>
          <WhyPanel job={job} />
          {job.waitsFor?.signal && (
            <SignalPanel key={job.waitsFor.signal} job={job} signal={job.waitsFor.signal} />
          )}
          <OutputPanel key={`output ${job.jobId}`} job={job} />
          <RelatedPanel job={job} />
          {job.error && <ErrorPanel error={job.error} job={job} />}
          <TimelinePanel key={`timeline ${job.jobId}`} job={job} />
          <AttemptTable job={job} />
          <LogPanel key={job.jobId} job={job} />
          <EventList job={job} />
        </div>
        <div>
          <JobFacts job={job} />
          {job.largeParams ? (
            <LargeValuePanel job={job} kind="params" size={job.largeParams.bytes} />
          ) : (
            <JsonPanel title="Params" value={job.params} fileName={`params-${job.jobId}.json`} />
          )}
          {job.largeResult && (
            <LargeValuePanel job={job} kind="result" size={job.largeResult.bytes} />
          )}
          {job.status === 'succeeded' && !job.largeResult && <ResultPanel job={job} />}
          <StepsPanel job={job} />
        </div>
      </div>
    </Screen>
  );
}

/** The history in one sentence, and the progress while running. */
function JobSentence({ job }: { job: JobView }) {
  const now = useNow();
  const { data: attempts = [] } = useQuery(attemptsQuery(job.jobId, job));
  const last = attempts.at(-1);
  const killed = job.status === 'cancelled' && last ? killedWords(last) : null;
  const fraction = job.status === 'running' ? job.progress?.fraction : null;
  return (
    <>
      <p className="sentence">{killed ?? headline(job, now)}.</p>
      <JobMeta job={job} />
      {typeof fraction === 'number' && (
        <progress value={fraction} max={1} aria-label="Progress of the job" />
      )}
    </>
  );
}

/** Known only from the link that led here: a job does not store which job it repeats. */
function Origin({ job: { jobId } }: { job: JobView }) {
  const { from } = route.useSearch();
  if (from === undefined || from === jobId) return null;
  return (
    <p className="meta">
      <span>
        Run again from{' '}
        <Link to="/jobs/$jobId" params={{ jobId: from }}>
          <code>{shortId(from)}</code>
        </Link>
      </span>
      <Link to="/compare" search={{ a: from, b: jobId }}>
        Compare both
      </Link>
    </p>
  );
}
