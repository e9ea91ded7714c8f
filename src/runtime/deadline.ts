export class DeadlineExceeded extends Error {
  override name = 'DeadlineExceeded';
}

/** Timers have 32 bits: a longer delay would end at once, so delays are capped at 24 days. */
export const TIMER_MS_MAX = 2_147_483_647;

/** Rejects when `work` has not settled within `limitMs`. It does not stop the work. */
export async function withDeadline<T>(work: Promise<T>, limitMs: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const expiry = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new DeadlineExceeded(`${what} took longer than ${limitMs} ms`)),
      Math.min(TIMER_MS_MAX, limitMs),
    );
  });
  try {
    return await Promise.race([work, expiry]);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves after `delayMs`, or at once when the signal aborts. Never rejects. */
export async function sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, Math.min(TIMER_MS_MAX, delayMs));
    signal?.addEventListener('abort', done, { once: true });
  });
}
