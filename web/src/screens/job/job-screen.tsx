import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { JobView } from '../../../../src/core/job/job.ts';
import { sentence } from '../../../../src/core/views/sentence.ts';
import { attemptsQuery, jobQuery } from '../../api/queries.ts';
import { Panel } from '../../parts/panel.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';
import { Screen, Waiting } from '../../parts/screen.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { useNow } from '../../runtime/clock.ts';
import { plainText } from '../../words/jobs/log-tail.ts';
import { sentenceCase } from '../../words/jobs/job-words.ts';
import { AttemptTimeline } from './attempt-timeline.tsx';
import { ErrorPanel } from './error-panel.tsx';
import { EventList } from './event-list.tsx';
import { JobActions } from './job-actions.tsx';
import { JobFacts } from './job-facts.tsx';
import { JobMeta } from './job-meta.tsx';
import { LogPanel } from './log-panel.tsx';
import { WhyPanel } from './why-panel.tsx';

const route = getRouteApi('/jobs/$jobId');

export function JobScreen() {
  const { jobId } = route.useParams();
  const { data: job, error } = useQuery(jobQuery(jobId));
  if (!job) {
    return (
      <Screen title="Job">
        <Waiting error={error} />
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
      <div className="columns">
        <div>
          <WhyPanel job={job} />
          {job.error && <ErrorPanel error={job.error} job={job} />}
          <Attempts job={job} />
          <LogPanel key={job.jobId} job={job} />
          <EventList job={job} />
        </div>
        <div>
          <JobFacts job={job} />
          <Panel title="Params">
            <JsonTree value={job.params} />
          </Panel>
          {job.status === 'succeeded' && (
            <Panel title="Result">
              <JsonTree value={job.result} />
            </Panel>
          )}
        </div>
      </div>
    </Screen>
  );
}

/** The history in one sentence, and the progress while running. */
function JobSentence({ job }: { job: JobView }) {
  const now = useNow();
  const fraction = job.status === 'running' ? job.progress?.fraction : null;
  return (
    <>
      <p className="sentence">{sentenceCase(plainText(sentence(job, now)))}.</p>
      <JobMeta job={job} />
      {typeof fraction === 'number' && (
        <progress value={fraction} max={1} aria-label="Progress of the job" />
      )}
    </>
  );
}

function Attempts({ job }: { job: JobView }) {
  const { data: attempts = [] } = useQuery(attemptsQuery(job.jobId, job));
  if (attempts.length === 0) return null;
  return (
    <Panel title="Attempts" aside={`${job.attempts} of ${job.maxAttempts}`} flush>
      <AttemptTimeline attempts={attempts} />
    </Panel>
  );
}
