/**
 * When to look at the queue itself again. Looks are the net under lost hints; those that take long, as
 * they do while a forgotten transaction keeps dead entries alive, are made less often. The shorter of
 * the last two counts: one that was only held up, by the network or a lock, says nothing about that.
 */

const LOOK_SHARE = 20;
/** However dear looks are, there are no more polls than this between two. */
const POLLS_BETWEEN_LOOKS_MAX = 10;

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
    const pauseMs = LOOK_SHARE * Math.min(tookMs, this.#lastTookMs);
    const longestMs = POLLS_BETWEEN_LOOKS_MAX * this.#pollMs;
    this.#dueAtMs = nowMs + Math.min(longestMs, Math.max(this.#pollMs, pauseMs));
    this.#lastTookMs = tookMs;
  }
}
