import { useEffect, useReducer } from 'react';
import type { LogView } from '../../../src/core/views/history.ts';
import { apiUrl } from '../runtime/urls.ts';
import { appendLines, EMPTY_TAIL, type LogTail } from '../words/jobs/log-tail.ts';
import { queryText } from './call.ts';
import { tenantOfStream } from './tenant-routes.ts';
import { useVisible } from './use-visible.ts';

export type TailState = 'live' | 'over' | 'reconnecting';

interface State extends LogTail {
  state: TailState;
  /** The run whose log is complete. */
  overRun: string | null;
}

type Step = { lines: LogView[] } | { state: TailState; run: string };

/** The most that the server reads at a time. */
const PAGE_LINES = 1_000;
const FLUSH_MS = 100;
/** While the beginning of a long log arrives, drawing is most of the work. */
const BUSY_FLUSH_MS = 400;
const BUSY_LINES = 500;
const START: State = { ...EMPTY_TAIL, state: 'live', overRun: null };

function step(before: State, change: Step): State {
  if ('lines' in change) return { ...before, ...appendLines(before, change.lines) };
  const { state, run } = change;
  return { ...before, state, overRun: state === 'over' ? run : before.overRun };
}

/**
 * Live tail of a job's log. A browser opens at most six connections to a server, so a hidden tab
 * closes its stream and resumes after the last line when it becomes visible. `run` names what the job
 * does now (`words/jobs/log-tail.ts`): when it changes, the stream is opened again, because the server
 * ends the stream of a finished job, and a retried job writes more.
 */
export function useLogTail(jobId: string, run: string): State {
  const [tail, dispatch] = useReducer(step, START);
  const visible = useVisible();
  const lastId = tail.lines.at(-1)?.id;

  useEffect(() => {
    if (!visible || tail.overRun === run) return undefined;
    const query = queryText({ cursor: lastId, limit: PAGE_LINES, ...tenantOfStream() });
    const source = new EventSource(apiUrl(`/v1/jobs/${jobId}/logs`) + query);
    let waiting: LogView[] = [];
    let isBusy = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    // Lines are shown in groups: drawing each one would take minutes for a long log.
    const flush = () => {
      clearTimeout(timer);
      timer = undefined;
      isBusy = waiting.length > BUSY_LINES;
      dispatch({ lines: waiting });
      waiting = [];
    };
    source.addEventListener('log', (message: MessageEvent<string>) => {
      waiting.push(JSON.parse(message.data) as LogView);
      timer ||= setTimeout(flush, isBusy ? BUSY_FLUSH_MS : FLUSH_MS);
    });
    source.addEventListener('end', () => {
      source.close();
      flush();
      dispatch({ state: 'over', run });
    });
    source.addEventListener('error', () => {
      dispatch({ state: source.readyState === EventSource.CLOSED ? 'over' : 'reconnecting', run });
    });
    source.addEventListener('open', () => dispatch({ state: 'live', run }));
    return () => {
      source.close();
      clearTimeout(timer);
    };
    // The cursor is read only when the stream opens; later lines must not reopen it.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [jobId, visible, run]);
  return tail;
}
