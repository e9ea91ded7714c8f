import type { Bench } from '../harness/bench.ts';
import { drain, fill } from './drain.ts';
import { RATE, WORKERS, type Workload } from './workload.ts';

export async function drainQueued(
  bench: Bench,
  system: string,
  workers: number,
): Promise<Record<string, number>> {
  const jobs = bench.size(60_000, 8_000);
  await using store = await bench.store(system);
  await fill(bench, system, store.url, jobs);
  const rate = await drain(bench, system, store, {
    jobs,
    warmup: bench.size(10_000, 2_000),
    workers,
  });
  return { '': rate };
}

export const drain1: Workload = {
  name: 'drain-1',
  what: 'Queued no-op jobs are run by one worker process, in that process, until none is left.',
  systems: WORKERS,
  metrics: [RATE],
  rounds: { full: 5, quick: 1 },
  seconds: { full: 8, quick: 4 },
  measure: async (bench, system) => await drainQueued(bench, system, 1),
};
