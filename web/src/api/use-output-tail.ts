import { useEffect, useReducer } from 'react';
import type { StreamView } from '../../../src/core/views/history.ts';
import { apiUrl } from '../runtime/urls.ts';
import { appendOutput, NO_OUTPUT, type OutputTail } from '../words/jobs/output-tail.ts';
import { queryText } from './call.ts';
import { tenantOfStream } from './tenant-routes.ts';
import type { TailState } from './use-log-tail.ts';
import { useVisible } from './use-visible.ts';

interface State extends OutputTail {
  state: TailState;
}

const START: State = { ...NO_OUTPUT, state: 'live' };

function step(before: State, change: StreamView | { state: TailState }): State {
  if ('state' in change) return { ...before, ...change };
  return { ...before, ...appendOutput(before, change) };
}

/** The live output of a job. A hidden tab closes its stream, and resumes when it is visible. */
export function useOutputTail(jobId: string, ended: boolean): State {
  const [tail, dispatch] = useReducer(step, START);
  const visible = useVisible();
  const { lastId } = tail;

  useEffect(() => {
    // A retried job writes more.
    if (!visible || (ended && tail.state === 'over')) return undefined;
    const query = queryText({ cursor: lastId, ...tenantOfStream() });
    const source = new EventSource(apiUrl(`/v1/jobs/${jobId}/stream`) + query);
    for (const name of ['attempt', 'chunk']) {
      source.addEventListener(name, (message: MessageEvent<string>) => {
        dispatch(JSON.parse(message.data) as StreamView);
      });
    }
    source.addEventListener('end', () => {
      source.close();
      dispatch({ state: 'over' });
    });
    source.addEventListener('error', () => {
      dispatch({ state: source.readyState === EventSource.CLOSED ? 'over' : 'reconnecting' });
    });
    source.addEventListener('open', () => dispatch({ state: 'live' }));
    return () => source.close();
    // The cursor is read only when the stream opens; later text must not reopen it.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [jobId, visible, ended]);
  return tail;
}
