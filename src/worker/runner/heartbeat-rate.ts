const NO_HEARTBEAT = () => undefined;

/**
 * The `ctx.heartbeat` of a job: sends at most one message in so many milliseconds, however often it
 * is called. Without an interval the worker needs none, and nothing is sent.
 */
export function heartbeatOf(everyMs: number | undefined, send: () => void): () => void {
  if (everyMs === undefined) return NO_HEARTBEAT;
  let nextMs = 0;
  return () => {
    // Not the time of day, which can jump back.
    const nowMs = performance.now();
    if (nowMs < nextMs) return;
    nextMs = nowMs + everyMs;
    send();
  };
}
