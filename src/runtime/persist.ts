import { sleep } from './deadline.ts';
import type { Log } from './log.ts';
import { StartRefusal } from './start-refusal.ts';

/** The delay before the next try: it doubles, and starts over after a healthy period. */
export class Backoff {
  readonly #minMs: number;
  readonly #maxMs: number;
  #nextMs: number;

  constructor(minMs = 200, maxMs = 5_000) {
    this.#minMs = minMs;
    this.#maxMs = maxMs;
    this.#nextMs = minMs;
  }

  reset(): void {
    this.#nextMs = this.#minMs;
  }

  next(): number {
    const pauseMs = this.#nextMs;
    this.#nextMs = Math.min(this.#maxMs, pauseMs * 2);
    return pauseMs;
  }
}

export interface PersistOptions {
  /** The operation, for the log: "the migration". */
  what: string;
  /** What a person can do about a failure. */
  fix?: (error: unknown) => string;
  log: Log;
  /** Ends the tries; the last failure is thrown. */
  signal: AbortSignal;
  backoff?: Backoff;
}

/** How long the pauses are, all together, until the same failure is a warning again. */
const REMIND_MS = 15_000;

/**
 * Repeats a step of start-up until it works, with backoff. A `StartRefusal` ends it at once,
 * because a retry cannot help.
 */
export async function persist<T>(work: () => Promise<T>, options: PersistOptions): Promise<T> {
  const { what, fix, log, signal, backoff = new Backoff() } = options;
  let lastReason: string | undefined;
  let quietMs = 0;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof StartRefusal || signal.aborted) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      const pauseMs = backoff.next();
      // The same reason is a warning now and then only.
      const isNews = reason !== lastReason || quietMs >= REMIND_MS;
      const level = isNews ? 'warn' : 'debug';
      quietMs = isNews ? pauseMs : quietMs + pauseMs;
      lastReason = reason;
      log[level]({ reason, fix: fix?.(error), pauseMs }, `${what} failed; trying again`);
      await sleep(pauseMs, signal);
      if (signal.aborted) throw error;
    }
  }
}
