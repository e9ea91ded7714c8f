import { measurePair, PAIR_METRICS } from '../pair.ts';
import type { Workload } from '../workload.ts';
import { drainIsolated } from './isolated.ts';

export const deployed: Workload = {
  name: 'deployed',
  what:
    'Queued no-op jobs in warm processes of one worker: of a folder of definitions (plain), and of ' +
    'deployed code (loaded).',
  systems: ['longshore'],
  ownTables: true,
  metrics: PAIR_METRICS,
  rounds: { full: 5, quick: 1 },
  seconds: { full: 24, quick: 8 },
  async measure(bench, system, round) {
    const jobs = bench.jobs(20_000, 4_000);
    const plan = { jobs, warmup: jobs / 5, cutMs: bench.size(15_000, 3_000) };
    return await measurePair(
      round,
      async () => await drainIsolated(bench, system, { ...plan, isolation: 'process' }),
      async () => await drainIsolated(bench, system, { ...plan, isolation: 'deployed' }),
    );
  },
};
