import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JobView } from '../../../../src/core/job/job.ts';
import { duration } from '../../../../src/core/values/duration.ts';
import type { AttemptView } from '../../../../src/core/views/history.ts';
import type { WorkerView } from '../../../../src/core/queue/worker.ts';
import { attemptsQuery, workersQuery } from '../../api/queries.ts';
import { Moment } from '../../parts/moment.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Rows } from '../../parts/rows.tsx';
import { useNow } from '../../runtime/clock.ts';
import { attemptErrors, killedWords, processWords } from '../../words/job-page/attempt-words.ts';
import { outcomeWords } from '../../words/job-page/timeline.ts';
import { plainText } from '../../words/jobs/log-tail.ts';
import { bytes, timeSince } from '../../words/moment.ts';

const DURATION =
  'From the claim to the stored result. The log of the worker and the charts count the run alone.';

/** The attempts with process, resource usage and outcome. */
export function AttemptTable({ job }: { job: JobView }) {
  const { data: attempts = [] } = useQuery(attemptsQuery(job.jobId, job));
  if (attempts.length === 0) return null;
  const [before, last] = attempts.slice(-2);
  return (
    <Panel
      title="Attempts"
      aside={
        <>
          {last && before && (
            <>
              <CompareLink job={job} a={before.claim} b={last.claim} /> ·{' '}
            </>
          )}
          {`${job.attempts} of ${job.maxAttempts}`}
        </>
      }
      flush
    >
      <Table job={job} attempts={attempts} />
    </Panel>
  );
}

function CompareLink({ job: { jobId }, a, b }: { job: JobView; a: number; b: number }) {
  return (
    <Link to="/compare" search={{ a: jobId, claimA: a, claimB: b }}>
      Compare the last two
    </Link>
  );
}

function Table({ job, attempts }: { job: JobView; attempts: readonly AttemptView[] }) {
  const now = useNow();
  const { data: workers = [] } = useQuery(workersQuery());
  const errors = attemptErrors(attempts, job.error);
  return (
    <Rows
      caption="Attempts, oldest first"
      rows={attempts}
      keyOf={({ claim }) => String(claim)}
      columns={[
        { title: 'Attempt', kind: 'number', cell: ({ number }) => number },
        {
          title: 'Version',
          kind: 'number',
          spare: true,
          cell: ({ definitionVersion }) => definitionVersion,
        },
        { title: 'Started', kind: 'short', cell: ({ startedAt }) => <Moment at={startedAt} /> },
        {
          title: 'Claim to end',
          head: (
            <span title={DURATION}>
              Claim <br />
              to end
            </span>
          ),
          kind: 'number',
          cell: ({ durationMs, startedAt }) =>
            durationMs === null ? timeSince(startedAt, now) : duration(durationMs),
        },
        {
          title: 'Worker',
          kind: 'short',
          titled: 'in-head',
          cell: (attempt) => <Process attempt={attempt} workers={workers} />,
        },
        {
          title: 'Used',
          kind: 'short',
          cell: ({ peakRssBytes, cpuMs }) => (
            <>
              {peakRssBytes !== null && <span className="block">{bytes(peakRssBytes)}</span>}
              {cpuMs !== null && <span className="block">{duration(cpuMs)} CPU</span>}
            </>
          ),
        },
        {
          title: 'Outcome',
          kind: 'wide',
          titled: 'in-head',
          cell: (attempt) => (
            <Ending attempt={attempt} errorWords={errors[attempts.indexOf(attempt)]} />
          ),
        },
      ]}
    />
  );
}

/** Two processes: that of the worker, and that of the job. */
function Process({
  attempt: { workerId, pid },
  workers,
}: {
  attempt: AttemptView;
  workers: readonly WorkerView[];
}) {
  const worker = workers.find((one) => one.workerId === workerId);
  return (
    <>
      {worker && (
        <span className="block">
          {worker.host} (pid {worker.pid})
        </span>
      )}
      {pid !== null && (
        <span className="block soft">
          {pid === worker?.pid ? 'in the worker process' : `job process ${pid}`}
        </span>
      )}
    </>
  );
}

/** The code of the error; its message only if the panel of the error has another one. */
function Ending({
  attempt,
  errorWords,
}: {
  attempt: AttemptView;
  errorWords: string | null | undefined;
}) {
  const { error } = attempt;
  const process = processWords(attempt);
  const suffix = process === null ? '' : ` (${process})`;
  const killed = killedWords(attempt);
  if (killed !== null) return <span className="remark">{killed}</span>;
  if (error === null) return `${outcomeWords(attempt)}${suffix}`;
  return (
    <span className="remark" title={plainText(error.message)}>
      <span className="bad">{error.code}</span> {plainText(errorWords ?? '')}
      {suffix}
    </span>
  );
}
