import { useEffect, useReducer } from 'react';
import type { LogView } from '../../../src/core/views/history.ts';
import { apiUrl } from '../runtime/urls.ts';
import { appendLines, EMPTY_TAIL, type LogTail } from '../words/jobs/log-tail.ts';
import { queryText } from './call.ts';
import { useVisible } from './use-visible.ts';

export type TailState = 'live' | 'over' | 'reconnecting';

interface State extends LogTail {
  state: TailState;
}

type Step = { lines: LogView[] } | { state: TailState };

const START: State = { ...EMPTY_TAIL, state: 'live' };

function step(before: State, change: Step): State {
  if ('state' in change) return { ...before, state: change.state };
  return { ...before, ...appendLines(before, change.lines) };
}

/**
 * Live tail of a job's log. A browser opens at most six connections to a server, so a hidden tab
 * closes its stream and resumes after the last line when it becomes visible.
 */
export function useLogTail(jobId: string, attempt: number | undefined, ended: boolean): State {
  const [tail, dispatch] = useReducer(step, START);
  const visible = useVisible();
  const lastId = tail.lines.at(-1)?.id;

  useEffect(() => {
    // A retried job writes more.
    if (!visible || (ended && tail.state === 'over')) return undefined;
    const query = queryText({ attempt, cursor: lastId });
    const source = new EventSource(apiUrl(`/v1/jobs/${jobId}/logs`) + query);
    let waiting: LogView[] = [];
    let frame = 0;
    // Lines are shown once per frame, not one by one.
    const flush = () => {
      frame = 0;
      dispatch({ lines: waiting });
      waiting = [];
    };
    source.addEventListener('log', (message: MessageEvent<string>) => {
      waiting.push(JSON.parse(message.data) as LogView);
      frame ||= requestAnimationFrame(flush);
    });
    source.addEventListener('end', () => {
      source.close();
      dispatch({ state: 'over' });
    });
    source.addEventListener('error', () => {
      dispatch({ state: source.readyState === EventSource.CLOSED ? 'over' : 'reconnecting' });
    });
    source.addEventListener('open', () => dispatch({ state: 'live' }));
    return () => {
      source.close();
      cancelAnimationFrame(frame);
    };
    // The cursor is read only when the stream opens; later lines must not reopen it.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [jobId, attempt, visible, ended]);
  return tail;
}
