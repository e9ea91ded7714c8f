import type { Bench } from '../harness/bench.ts';
import { drain, type Drained, fill } from './drain.ts';
import { measurePair, PAIR_METRICS } from './pair.ts';
import { WORKERS, type Workload } from './workload.ts';

export const backlog: Workload = {
  name: 'backlog',
  what: 'One worker drains the head of a queue with 300,000 more jobs behind, and with none.',
  systems: WORKERS.filter((name) => name !== 'bullmq-redis-always'),
  metrics: PAIR_METRICS,
  rounds: { full: 5, quick: 1 },
  seconds: { full: 30, quick: 8 },
  async measure(bench, system, round) {
    const behind = bench.size(300_000, 20_000);
    return await measurePair(
      round,
      async () => await drainHead(bench, system, 0),
      async () => await drainHead(bench, system, behind),
    );
  },
};

/** Both rates end when the last handler starts: with jobs behind, the store never gets empty. */
async function drainHead(bench: Bench, system: string, behind: number): Promise<Drained> {
  const jobs = bench.jobs(40_000, 8_000);
  await using store = await bench.store(system);
  await fill(bench, system, store.url, jobs + behind);
  return await drain(bench, system, store, { jobs, end: 'handlers' });
}
