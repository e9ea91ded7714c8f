import { retryDelayMs } from '../../core/failure/backoff.ts';
import { parseRetryAfter } from '../../core/failure/classify.ts';

const BACKOFF = { baseMs: 200, maxMs: 5_000, jitter: 0.5 };

/** If the server asks for a longer pause, the error is thrown and the caller decides. */
const RETRY_AFTER_MAX_MS = 30_000;

/** Temporary errors: the server, or a proxy before it, is busy, starting or stopping. */
export const PASSING_STATUSES: readonly number[] = [429, 502, 503, 504];

/** A deploy makes a server unreachable for a moment; waiting calls survive this. */
export const OUTAGE_MAX_MS = 30_000;

/** The pause before the next try; null when the server asks for more than `RETRY_AFTER_MAX_MS`. */
export function pauseMs(attempt: number, retryAfterMs: number | null): number | null {
  if (retryAfterMs !== null && retryAfterMs > RETRY_AFTER_MAX_MS) return null;
  return retryDelayMs(BACKOFF, attempt, retryAfterMs, Math.random());
}

/** A date is compared with the server's own clock, so a wrong local clock does not matter. */
export function retryAfterOf(headers: Pick<Headers, 'get'>): number | null {
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
