import { Histogram, Registry } from 'prom-client';
import { VERSION } from '../version.ts';
import { textOf } from './family.ts';
import { processFamilies } from './process-families.ts';

const BATCH_EDGES = [1, 2, 5, 10, 25, 50, 100, 250, 500];
const MEGABYTE = 1_048_576;
const MEMORY_EDGES = [32, 64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192].map((mb) => mb * MEGABYTE);

/** What only a worker knows: its batch sizes, and the memory of its jobs. */
export class WorkerMetrics {
  readonly #registry = new Registry();
  readonly #claimed: Histogram;
  readonly #settled: Histogram;
  readonly #memory: Histogram;

  constructor() {
    const registers = [this.#registry];
    this.#claimed = new Histogram({
      name: 'longshore_claim_batch_jobs',
      help: 'Jobs per claim of this worker.',
      buckets: BATCH_EDGES,
      registers,
    });
    this.#settled = new Histogram({
      name: 'longshore_settle_batch_jobs',
      help: 'Outcomes per write of this worker.',
      buckets: BATCH_EDGES,
      registers,
    });
    this.#memory = new Histogram({
      name: 'longshore_runner_memory_bytes',
      help: 'Peak memory of the process of an attempt.',
      buckets: MEMORY_EDGES,
      registers,
    });
  }

  claimed(jobs: number): void {
    if (jobs > 0) this.#claimed.observe(jobs);
  }

  settled(jobs: number): void {
    if (jobs > 0) this.#settled.observe(jobs);
  }

  ran(peakRssBytes: number | null): void {
    if (peakRssBytes !== null) this.#memory.observe(peakRssBytes);
  }

  async text(): Promise<string> {
    return `${await textOf(processFamilies(VERSION))}\n${await this.#registry.metrics()}`;
  }
}
