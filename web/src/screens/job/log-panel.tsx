import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useMemo, useState } from 'react';
import { isTerminal, type JobView } from '../../../../src/core/job/job.ts';
import type { Level } from '../../../../src/core/views/history.ts';
import { offersQuery } from '../../api/queries.ts';
import { type TailState, useLogTail } from '../../api/use-log-tail.ts';
import { Panel } from '../../parts/panel.tsx';
import { apiUrl } from '../../runtime/urls.ts';
import { atLeastLevel, matchingLines } from '../../words/job-page/log-search.ts';
import { runOf } from '../../words/jobs/log-tail.ts';
import { LogLines } from './log-lines.tsx';
import { LogTools } from './log-tools.tsx';
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
  const [level, setLevel] = useState<Level>('trace');
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<number | null>(null);
  const wanted = useDeferredValue(text);
  const shown = useMemo(() => atLeastLevel(lines, level), [lines, level]);
  const matches = useMemo(() => matchingLines(shown, wanted), [shown, wanted]);
  // A search starts at its last match, which is the newest.
  const current = matches.length === 0 ? null : Math.min(chosen ?? Infinity, matches.length - 1);
  const aside = lines.length === 0 ? undefined : <Aside job={job} state={state} />;
  return (
    <Panel title="Log" aside={aside} flush>
      {lines.length === 0 ? (
        <p className="soft pad">{silence(job, state)}</p>
      ) : (
        <>
          <LogTools
            level={level}
            onLevel={setLevel}
            text={text}
            onText={(typed) => {
              setText(typed);
              setChosen(null);
            }}
            current={current}
            count={matches.length}
            onCurrent={setChosen}
          />
          {dropped > 0 && (
            <p className="pad soft">
              {dropped} earlier lines are not shown here. The download has them.
            </p>
          )}
          {shown.length === 0 ? (
            <p className="soft pad">No line has this level.</p>
          ) : (
            <LogLines
              key={level}
              lines={shown}
              wanted={wanted}
              target={current === null ? null : (matches[current] ?? null)}
            />
          )}
        </>
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
