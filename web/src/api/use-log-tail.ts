import { useEffect, useReducer } from 'react';
import type { LogView } from '../../../src/core/views/history.ts';
import { apiUrl } from '../runtime/place.ts';
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
 * What a job writes, as it writes it. A browser opens six connections to a server and no more, so a
 * tab that nobody looks at gives its own back, and goes on after its last line when it is seen again.
 */
export function useLogTail(jobId: string, attempt: number | undefined, ended: boolean): State {
  const [tail, dispatch] = useReducer(step, START);
  const visible = useVisible();
  const lastId = tail.lines.at(-1)?.id;

  useEffect(() => {
    // A job that ended may be started again, and then has more to say.
    if (!visible || (ended && tail.state === 'over')) return undefined;
    const query = queryText({ attempt, cursor: lastId });
    const source = new EventSource(apiUrl(`/v1/jobs/${jobId}/logs`) + query);
    let waiting: LogView[] = [];
    let frame = 0;
    // A chatty job writes thousands of lines: they are shown once per frame, not one by one.
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
    // The last line at the time of opening is where it begins; later ones must not open it again.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [jobId, attempt, visible, ended]);
  return tail;
}
