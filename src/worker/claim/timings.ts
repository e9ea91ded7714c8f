import { NO_USAGE, type Usage } from '../../core/job/job.ts';
import { BUCKETS, bucketOf } from '../../core/series/histogram.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Timing } from '../../store/counters/timings.ts';

const WRITE_EVERY_MS = 1_000;

type Spent = Pick<Usage, 'cpuMs' | 'peakRssBytes'>;

/**
 * The times and the usage of plain jobs of one shard, summed up by bucket and written once a second. The
 * statements of plain jobs count only moves, which is cheaper. A killed worker loses the sums of its last
 * second, never a move.
 */
export class Timings {
  readonly #clock: Clock;
  readonly #write: (timings: readonly Timing[]) => Promise<void>;
  #sums = new Map<number, Timing>();
  #dueMs = 0;

  constructor(clock: Clock, write: (timings: readonly Timing[]) => Promise<void>) {
    this.#clock = clock;
    this.#write = write;
  }

  add(queue: number, state: Timing['state'], ms: number, usage: Spent = NO_USAGE): void {
    const bucket = bucketOf(ms);
    const key = (queue * 2 + (state === 'running' ? 0 : 1)) * BUCKETS + bucket;
    const sum = this.#sums.get(key);
    if (sum) {
      sum.jobs += 1;
      sum.ms += ms;
      if (usage.cpuMs !== null) sum.cpuMs = (sum.cpuMs ?? 0) + usage.cpuMs;
      if (usage.peakRssBytes !== null) {
        sum.peakRssBytes = Math.max(sum.peakRssBytes ?? 0, usage.peakRssBytes);
      }
    } else {
      if (this.#sums.size === 0) this.#dueMs = this.#clock.monotonicMs() + WRITE_EVERY_MS;
      const { cpuMs, peakRssBytes } = usage;
      this.#sums.set(key, { queue, state, bucket, jobs: 1, ms, cpuMs, peakRssBytes });
    }
  }

  /** The time until there is something to write; Infinity when there is nothing. */
  get dueInMs(): number {
    return this.#sums.size === 0 ? Infinity : Math.max(0, this.#dueMs - this.#clock.monotonicMs());
  }

  /** Writes what there is. What cannot be written is lost; only statistics need it. */
  async write(): Promise<void> {
    const timings = [...this.#sums.values()];
    this.#sums = new Map();
    if (timings.length > 0) await this.#write(timings).catch(() => undefined);
  }
}
