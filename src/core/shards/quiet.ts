/**
 * Of many shards, most are quiet most of the time. The longer nothing happens in one, the less
 * often it is polled, until all quiet shards together are polled as often as two. A hint ends such a
 * pause; when the hint is lost, the next poll finds the work.
 */

/** The longest pause between two polls of a quiet shard, however many there are. */
export const QUIET_MS_MAX = 60_000;

/** How many times longer than usual the pauses of a quiet shard become. */
export function quietStretch(shards: number): number {
  return Math.max(1, shards / 2);
}

export function quietMs(pollMs: number, shards: number): number {
  return Math.max(pollMs, Math.min(QUIET_MS_MAX, pollMs * quietStretch(shards)));
}

/**
 * A worker without jobs in a shard has a lease there that is this many times longer, and renews it
 * that much more rarely. Shards are counted in one of them, where the lease stays short.
 */
export function quietLeaseStretch(shard: number, shards: number): number {
  return shard === 0 ? 1 : Math.min(4, quietStretch(shards));
}

/** A pause that doubles while nothing is found. */
export class BackOff {
  readonly #shortest: number;
  readonly #longest: number;
  #next: number;

  constructor(shortest: number, longest: number) {
    this.#shortest = shortest;
    this.#longest = Math.max(shortest, longest);
    this.#next = shortest;
  }

  /** The pause after a poll. */
  after(found: boolean): number {
    if (found) this.reset();
    const pause = this.#next;
    if (!found) this.#next = Math.min(this.#longest, 2 * pause);
    return pause;
  }

  /** Returns whether the pauses were longer than the shortest. */
  reset(): boolean {
    const was = this.#next;
    this.#next = this.#shortest;
    return was > this.#shortest;
  }

  /** Whether nothing was found for so long that the pauses are the longest. */
  get isQuiet(): boolean {
    return this.#next > this.#shortest && this.#next === this.#longest;
  }
}
