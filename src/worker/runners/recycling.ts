import type { Clock } from '../../runtime/clock.ts';

/**
 * Starting a runner costs as much CPU time as a thousand tiny jobs, so a runner with quick jobs is
 * kept at least this long.
 */
const AGE_MS_MIN = 60_000;

/** Counts the jobs of a warm runner, up to its replacement. */
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

  /** One more job is done; true when the runner must be replaced. */
  count(): boolean {
    this.#jobs += 1;
    if (this.#jobs < this.#maxJobs) return false;
    return this.#clock.monotonicMs() - this.#bornMs >= AGE_MS_MIN;
  }
}
