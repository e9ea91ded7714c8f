import { useLayoutEffect, useRef, useState } from 'react';
import { isTerminal, type JobView } from '../../../../src/core/job/job.ts';
import type { LogView } from '../../../../src/core/views/history.ts';
import { type TailState, useLogTail } from '../../api/use-log-tail.ts';
import { Command } from '../../parts/copy-button.tsx';
import { Panel } from '../../parts/panel.tsx';
import { serverAddress } from '../../runtime/urls.ts';
import { plainText } from '../../words/jobs/log-tail.ts';
import { clockTime, fullMoment } from '../../words/moment.ts';
import { urlFlag } from '../../words/shell.ts';

const STATE_WORDS: Record<TailState, string> = {
  live: 'following',
  over: 'complete',
  reconnecting: 'connection lost, reconnecting',
};

/** Live log. Follows the end unless the user has scrolled up. */
export function LogPanel({ job }: { job: JobView }) {
  const tail = useLogTail(job.jobId, undefined, isTerminal(job.status));
  const [follows, setFollows] = useState(true);
  const box = useRef<HTMLDivElement>(null);
  const { lines, dropped, state } = tail;

  // Runs before the scroll event, which would look as if the user had scrolled up.
  useLayoutEffect(() => {
    if (follows && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines, follows]);

  const onScroll = () => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = box.current ?? {};
    setFollows(scrollHeight - scrollTop - clientHeight < 24);
  };
  return (
    <Panel title="Log" aside={lines.length === 0 ? undefined : STATE_WORDS[state]} flush>
      {lines.length === 0 ? (
        <p className="soft pad">{silence(job, state)}</p>
      ) : (
        <>
          {dropped > 0 && <Earlier dropped={dropped} jobId={job.jobId} />}
          <div
            className="log"
            ref={box}
            onScroll={onScroll}
            role="log"
            aria-label="Log of the job"
            tabIndex={0}
          >
            {lines.map((line, index) => (
              <LogLine key={line.id} line={line} before={lines[index - 1]} />
            ))}
          </div>
          {!follows && (
            <button type="button" className="to-end small" onClick={() => setFollows(true)}>
              Jump to end
            </button>
          )}
        </>
      )}
    </Panel>
  );
}

function LogLine({ line, before }: { line: LogView; before: LogView | undefined }) {
  const begins = before?.attempt !== line.attempt;
  return (
    <>
      {begins && <div className="log-attempt">Attempt {line.attempt}</div>}
      <div className={`log-line log-${line.level}`}>
        <time dateTime={line.at} title={fullMoment(line.at)}>
          {clockTime(line.at)}
        </time>
        <span className="log-level">{line.stream === 'stderr' ? 'stderr' : line.level}</span>
        <span className="log-text">{plainText(line.message)}</span>
      </div>
    </>
  );
}

function Earlier({ dropped, jobId }: { dropped: number; jobId: string }) {
  return (
    <div className="pad soft">
      {dropped} earlier lines are not shown here:
      <Command text={['longshore logs', jobId, ...urlFlag(serverAddress)].join(' ')} />
    </div>
  );
}

function silence(job: JobView, state: TailState): string {
  if (state === 'reconnecting') return 'Connection lost, reconnecting.';
  if (job.startedAt === null) return 'Not started.';
  return isTerminal(job.status) ? 'No log output.' : 'No log output so far.';
}
