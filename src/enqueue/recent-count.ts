import type { Clock } from '../runtime/clock.ts';

interface Seen {
  atMs: number;
  counted: Promise<number>;
  /** What this process has added since. */
  added: number;
}

/**
 * How much of something each tenant has. To count at each enqueue would make it slower the longer the
 * queue is, so a count serves for a while; what this process has let in since is added. Several
 * processes may therefore let in a little more together.
 */
export class RecentCount {
  readonly #clock: Clock;
  readonly #freshMs: number;
  readonly #count: (tenant: string) => Promise<number>;
  readonly #seen = new Map<string, Seen>();

  constructor(clock: Clock, freshMs: number, count: (tenant: string) => Promise<number>) {
    this.#clock = clock;
    this.#freshMs = freshMs;
    this.#count = count;
  }

  /**
   * What there is now. Who awaits nothing between this answer and its `add` counts those who asked at
   * the same time.
   */
  async look(tenant: string): Promise<{ total: () => number; add: (amount: number) => void }> {
    const seen = this.#fresh(tenant);
    const counted = await seen.counted;
    return {
      total: () => counted + seen.added,
      add: (amount) => {
        seen.added += amount;
      },
    };
  }

  #fresh(tenant: string): Seen {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#seen.get(tenant);
    if (known && nowMs - known.atMs < this.#freshMs) return known;
    const seen = { atMs: nowMs, counted: this.#count(tenant), added: 0 };
    this.#seen.set(tenant, seen);
    seen.counted.catch(() => this.#seen.delete(tenant));
    return seen;
  }
}
