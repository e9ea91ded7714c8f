/**
 * Jobs that come a few milliseconds apart would cost three commits each: one to store a job, one to claim
 * it, one to settle it. So a success waits a moment for the next hint, and is then written by the call that
 * claims the next job. Where jobs come alone, nothing waits.
 */

/** Longer than the pause between two jobs at 500 per second. */
const HOLD_MS = 3;
/** Claims that are further apart than this are of jobs that come alone. */
const APART_MS = 8;
/** After holds in vain, as where a caller waits for each result before its next job, few are tried. */
const SKIPS_MAX = 64;

export class Hold {
  #claimedAtMs = Number.NEGATIVE_INFINITY;
  #gapMs = Infinity;
  #sinceMs: number | undefined;
  /** After the next hold in vain, so many settlements do not wait. */
  #skips = 1;
  /** How many of these are left. */
  #left = 0;

  /** Some jobs were claimed. */
  claimed(nowMs: number): void {
    this.#gapMs = nowMs - this.#claimedAtMs;
    this.#claimedAtMs = nowMs;
  }

  /** Some outcomes wait. */
  get holds(): boolean {
    return this.#sinceMs !== undefined;
  }

  /** Outcomes begin to wait, if that is worth it and they do not wait yet. */
  begin(nowMs: number): void {
    const isDense = Math.max(this.#gapMs, nowMs - this.#claimedAtMs) <= APART_MS;
    if (isDense && this.#left === 0) this.#sinceMs ??= nowMs;
  }

  /** How much longer outcomes wait. */
  leftMs(nowMs: number): number {
    return this.#sinceMs === undefined ? 0 : Math.max(0, HOLD_MS - (nowMs - this.#sinceMs));
  }

  /** Outcomes are written now; `joined`: with a claim. */
  ended(joined: boolean): void {
    if (this.#sinceMs === undefined) {
      this.#left = Math.max(0, this.#left - 1);
      return;
    }
    this.#sinceMs = undefined;
    this.#left = joined ? 0 : this.#skips;
    this.#skips = joined ? 1 : Math.min(SKIPS_MAX, 2 * this.#skips);
  }
}
