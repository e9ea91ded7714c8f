import type { Clock } from './clock.ts';

export type StopSignal = 'SIGINT' | 'SIGTERM';

/**
 * Ctrl-C in a terminal reaches npm and its script, and npm passes it on to the script. So signals in
 * quick succession are one request: the second one would stop a server at once that is to drain.
 */
const SAME_REQUEST_MS = 1_000;

/** Passes on the first signal of each request. */
export function stopRequests(
  clock: Clock,
  onRequest: (signal: StopSignal) => void,
): (signal: StopSignal) => void {
  let heardMs = Number.NEGATIVE_INFINITY;
  return (signal) => {
    const nowMs = clock.monotonicMs();
    if (nowMs - heardMs < SAME_REQUEST_MS) return;
    heardMs = nowMs;
    onRequest(signal);
  };
}
