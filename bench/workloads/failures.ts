import type { Bench } from '../harness/bench.ts';
import { drain, type Drained, fill } from './drain.ts';
import { measurePair, PAIR_METRICS } from './pair.ts';
import type { Workload } from './workload.ts';

const FAIL_EVERY = 100;

export const failures: Workload = {
  name: 'failures',
  what: 'One worker drains 60,000 jobs of which 1 % fail, to be retried later, and of which none do.',
  systems: ['longshore', 'graphile-docs', 'graphile-max'],
  metrics: PAIR_METRICS,
  rounds: { full: 5, quick: 1 },
  seconds: { full: 20, quick: 8 },
  async measure(bench, system, round) {
    return await measurePair(
      round,
      async () => await drainWith(bench, system, 0),
      async () => await drainWith(bench, system, FAIL_EVERY),
    );
  },
};

/** Ends with the last handler: failed jobs wait for their retry, so the store is not empty then. */
async function drainWith(bench: Bench, system: string, failEvery: number): Promise<Drained> {
  const jobs = bench.jobs(60_000, 8_000);
  await using store = await bench.store(system);
  await fill(bench, system, store.url, jobs);
  return await drain(bench, system, store, { jobs, failEvery, end: 'handlers' });
}
