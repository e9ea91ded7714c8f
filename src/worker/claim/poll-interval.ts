/**
 * When to poll the queue again. Polls are the fallback for lost hints. Slow polls, as while an old
 * transaction keeps dead entries alive, are made less often. The shorter of the last two counts,
 * because one may have been delayed by the network or a lock.
 */

const POLL_SHARE = 20;
/** The longest pause between two polls, in poll intervals. */
const POLL_INTERVALS_MAX = 10;

export class PollInterval {
  readonly #pollMs: number;
  #dueAtMs = Number.NEGATIVE_INFINITY;
  #lastTookMs = 0;

  constructor(pollMs: number) {
    this.#pollMs = pollMs;
  }

  isDue(nowMs: number): boolean {
    return nowMs >= this.#dueAtMs;
  }

  polled(startMs: number, nowMs: number): void {
    const tookMs = nowMs - startMs;
    const pauseMs = POLL_SHARE * Math.min(tookMs, this.#lastTookMs);
    const longestMs = POLL_INTERVALS_MAX * this.#pollMs;
    this.#dueAtMs = nowMs + Math.min(longestMs, Math.max(this.#pollMs, pauseMs));
    this.#lastTookMs = tookMs;
  }
}
