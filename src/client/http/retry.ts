import { retryDelayMs } from '../../core/failure/backoff.ts';
import { parseRetryAfter } from '../../core/failure/classify.ts';

const BACKOFF = { baseMs: 200, maxMs: 5_000, jitter: 0.5 };

/** A server that asks for a longer pause is not waited for: the caller decides what to do then. */
const RETRY_AFTER_MAX_MS = 30_000;

/** Answers that say "not now": the server, or a proxy before it, is busy, starting or stopping. */
export const PASSING_STATUSES: readonly number[] = [429, 502, 503, 504];

/** A server that is being deployed is away for a moment, and that need not end what waits for it. */
export const OUTAGE_MAX_MS = 30_000;

/** How long to wait before the next try, or null when the server asks for more than we wait. */
export function pauseMs(attempt: number, retryAfterMs: number | null): number | null {
  if (retryAfterMs !== null && retryAfterMs > RETRY_AFTER_MAX_MS) return null;
  return retryDelayMs(BACKOFF, attempt, retryAfterMs, Math.random());
}

/** A date is read against the server's own clock, so that a wrong local one does no harm. */
export function retryAfterOf(headers: Headers): number | null {
  const sentAt = Date.parse(headers.get('date') ?? '');
  const parsed = parseRetryAfter(headers.get('retry-after'), sentAt);
  return parsed === null || Number.isNaN(parsed) ? null : parsed;
}

/** Resolves after the pause; rejects with the signal's reason when that aborts first. */
export async function pause(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, delayMs);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
