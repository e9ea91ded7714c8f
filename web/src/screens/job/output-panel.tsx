import { useLayoutEffect, useRef } from 'react';
import { isTerminal, type JobView } from '../../../../src/core/job/job.ts';
import type { TailState } from '../../api/use-log-tail.ts';
import { useOutputTail } from '../../api/use-output-tail.ts';
import { Panel } from '../../parts/panel.tsx';

const STATE_WORDS: Record<TailState, string> = {
  live: 'following',
  over: 'complete',
  reconnecting: 'connection lost, reconnecting',
};

/** What the job sends with `ctx.stream`, live. A job that streams nothing has no such panel. */
export function OutputPanel({ job }: { job: JobView }) {
  const { text, attempt, dropped, state } = useOutputTail(job.jobId, isTerminal(job.status));
  const box = useRef<HTMLPreElement>(null);
  const follows = useRef(true);
  useLayoutEffect(() => {
    if (follows.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  const onScroll = () => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = box.current ?? {};
    follows.current = scrollHeight - scrollTop - clientHeight < 24;
  };
  if (text === '') return null;
  return (
    <Panel title="Live output" aside={`attempt ${attempt} · ${STATE_WORDS[state]}`} flush>
      {dropped > 0 && <p className="pad soft">{dropped} earlier characters are not shown here.</p>}
      <pre
        className="log output"
        ref={box}
        onScroll={onScroll}
        role="log"
        aria-label="Live output of the job"
        tabIndex={0}
      >
        {text}
      </pre>
    </Panel>
  );
}
