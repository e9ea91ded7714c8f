import { useQuery } from '@tanstack/react-query';
import { isTerminal, type JobView } from '../../../../src/core/job/job.ts';
import { offersQuery } from '../../api/queries.ts';
import { type TailState, useLogTail } from '../../api/use-log-tail.ts';
import { SearchedLog } from '../../parts/log/searched-log.tsx';
import { Panel } from '../../parts/panel.tsx';
import { apiUrl } from '../../runtime/urls.ts';
import { runOf } from '../../words/jobs/log-tail.ts';
import { queryText } from '../../api/call.ts';
import { tenantOfStream } from '../../api/tenant-routes.ts';

const STATE_WORDS: Record<TailState, string> = {
  live: 'following',
  over: 'complete',
  reconnecting: 'connection lost, reconnecting',
};

/** The log of a job, live, with level filter, search and download. */
export function LogPanel({ job }: { job: JobView }) {
  const { lines, dropped, state } = useLogTail(job.jobId, runOf(job));
  const aside = lines.length === 0 ? undefined : <Aside job={job} state={state} />;
  return (
    <Panel title="Log" aside={aside} flush>
      {lines.length === 0 ? (
        <p className="soft pad">{silence(job, state)}</p>
      ) : (
        <SearchedLog label="Log of the job" lines={lines}>
          {dropped > 0 && (
            <p className="pad soft">
              {dropped} earlier lines are not shown here. The download has them.
            </p>
          )}
        </SearchedLog>
      )}
    </Panel>
  );
}

function Aside({ job: { jobId }, state }: { job: JobView; state: TailState }) {
  const { data: offers = [] } = useQuery(offersQuery());
  const file = (format: string) =>
    apiUrl(`/v1/jobs/${jobId}/logs/download`) + queryText({ format, ...tenantOfStream() });
  return (
    <>
      {offers.includes('/v1/jobs/{jobId}/logs/download') && (
        <>
          <a href={file('text')} className="button small" download>
            Download text
          </a>{' '}
          <a href={file('jsonl')} className="button small" download>
            JSONL
          </a>{' '}
        </>
      )}
      <span>{STATE_WORDS[state]}</span>
    </>
  );
}

function silence(job: JobView, state: TailState): string {
  if (state === 'reconnecting') return 'Connection lost, reconnecting.';
  if (job.startedAt === null) return 'Not started.';
  if (!isTerminal(job.status)) return 'No log output so far.';
  return state === 'over' ? 'No log output.' : 'Loading…';
}
