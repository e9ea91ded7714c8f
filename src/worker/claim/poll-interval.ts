import { BackOff } from '../../core/shards/quiet.ts';

/**
 * When to poll the queue again. Polls are the fallback for lost hints. Slow polls, as while an old
 * transaction keeps dead entries alive, are made less often. The shorter of the last two counts,
 * because one may have been delayed by the network or a lock. Where there are many shards, polls
 * that find nothing are made less often too, up to one in `quietMs`.
 */

const POLL_SHARE = 20;
/** The longest pause between two polls, in poll intervals. */
const POLL_INTERVALS_MAX = 10;

export class PollInterval {
  readonly #pollMs: number;
  readonly #backOff: BackOff;
  #dueAtMs = Number.NEGATIVE_INFINITY;
  #lastTookMs = 0;
  /** The pause where there is work. */
  #usualMs: number;

  constructor(pollMs: number, quietMs = pollMs) {
    this.#pollMs = pollMs;
    this.#usualMs = pollMs;
    this.#backOff = new BackOff(pollMs, quietMs);
  }

  isDue(nowMs: number): boolean {
    return nowMs >= this.#dueAtMs;
  }

  /** There is work again: the next hint may be lost. */
  hinted(nowMs: number): void {
    this.#backOff.reset();
    this.#dueAtMs = Math.min(this.#dueAtMs, nowMs + this.#usualMs);
  }

  polled(startMs: number, nowMs: number, found = true): void {
    const tookMs = nowMs - startMs;
    const pauseMs = POLL_SHARE * Math.min(tookMs, this.#lastTookMs);
    const longestMs = POLL_INTERVALS_MAX * this.#pollMs;
    this.#usualMs = Math.min(longestMs, Math.max(this.#pollMs, pauseMs));
    this.#dueAtMs = nowMs + Math.max(this.#usualMs, this.#backOff.after(found));
    this.#lastTookMs = tookMs;
  }
}
