import { randomFillSync } from 'node:crypto';
import type { Clock } from '../../runtime/clock.ts';
import { makeJobId } from '../../core/job/job-id.ts';

/**
 * Makes ids that strictly increase within one process, also within a millisecond and when the wall
 * clock steps back. Random numbers are drawn in blocks, because each draw is a system call.
 */
export class JobIds {
  readonly #clock: Clock;
  readonly #pool = new Uint32Array(1_024);
  #used = this.#pool.length;
  #lastMs = 0;
  #sequence = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  next(shard: number): string {
    const nowMs = this.#clock.now().getTime();
    if (nowMs > this.#lastMs) {
      this.#lastMs = nowMs;
      this.#sequence = 0;
    } else if (this.#sequence < 0xfff) {
      this.#sequence += 1;
    } else {
      this.#lastMs += 1;
      this.#sequence = 0;
    }
    const random = [this.#random26(), this.#random26()] as const;
    return makeJobId({ timeMs: this.#lastMs, sequence: this.#sequence, random, shard });
  }

  #random26(): number {
    if (this.#used === this.#pool.length) {
      randomFillSync(this.#pool);
      this.#used = 0;
    }
    const drawn = this.#pool[this.#used] ?? 0;
    this.#used += 1;
    return drawn >>> 6;
  }
}
