import type { Clock } from '../../runtime/clock.ts';

/**
 * Starting a runner costs as much processor time as a thousand tiny jobs, so one that gets through
 * its jobs quickly goes on until this long after its start.
 */
const AGE_MS_MIN = 60_000;

/** Counts the jobs of a runner that is used again and again, up to its replacement. */
export class Recycling {
  readonly #clock: Clock;
  readonly #maxJobs: number;
  readonly #bornMs: number;
  #jobs = 0;

  constructor(clock: Clock, maxJobs: number) {
    this.#clock = clock;
    this.#maxJobs = maxJobs;
    this.#bornMs = clock.monotonicMs();
  }

  /** One more is done; true when it has done enough. */
  count(): boolean {
    this.#jobs += 1;
    if (this.#jobs < this.#maxJobs) return false;
    return this.#clock.monotonicMs() - this.#bornMs >= AGE_MS_MIN;
  }
}
