import { useEffect, useReducer } from 'react';
import type { DefinitionLogView } from '../../../src/core/views/history.ts';
import { apiUrl } from '../runtime/urls.ts';
import { appendTail, type DefinitionTail } from '../words/queues/definition-tail.ts';
import { queryText } from './call.ts';
import { tenantOfStream } from './tenant-routes.ts';
import { useVisible } from './use-visible.ts';

type Step = { lines: DefinitionLogView[] } | { state: 'live' | 'reconnecting' };

interface State extends DefinitionTail {
  state: 'live' | 'reconnecting';
}

function step(before: State, change: Step): State {
  if ('state' in change) return { ...before, state: change.state };
  return { ...before, ...appendTail(before, change.lines) };
}

const START: State = { lines: [], dropped: 0, state: 'live' };

/** Live log of all jobs of a definition, while `wanted` and the tab is visible. */
export function useDefinitionTail(key: string, wanted: boolean): State {
  const [tail, dispatch] = useReducer(step, START);
  const visible = useVisible();
  const lastId = tail.lines.at(-1)?.id;

  useEffect(() => {
    if (!visible || !wanted) return undefined;
    const path = `/v1/definitions/${encodeURIComponent(key)}/logs`;
    const query = queryText({ cursor: lastId, ...tenantOfStream() });
    const source = new EventSource(apiUrl(path) + query);
    let waiting: DefinitionLogView[] = [];
    let frame = 0;
    const flush = () => {
      frame = 0;
      dispatch({ lines: waiting });
      waiting = [];
    };
    source.addEventListener('log', (message: MessageEvent<string>) => {
      waiting.push(JSON.parse(message.data) as DefinitionLogView);
      frame ||= requestAnimationFrame(flush);
    });
    source.addEventListener('error', () => dispatch({ state: 'reconnecting' }));
    source.addEventListener('open', () => dispatch({ state: 'live' }));
    return () => {
      source.close();
      cancelAnimationFrame(frame);
    };
    // The cursor is read only when the stream opens; later lines must not reopen it.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [key, visible, wanted]);
  return tail;
}
