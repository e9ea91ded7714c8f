import { drainIsolated } from './isolated.ts';
import { RATE, type Workload } from '../workload.ts';

export const drainProcess: Workload = {
  name: 'drain-process',
  what: 'Queued no-op jobs, each run in one of four warm child processes of one worker.',
  systems: ['longshore', 'bullmq-redis'],
  metrics: [RATE],
  rounds: { full: 5, quick: 1 },
  seconds: { full: 12, quick: 5 },
  async measure(bench, system) {
    const rate = await drainIsolated(bench, system, {
      isolation: 'process',
      jobs: bench.size(20_000, 4_000),
      warmup: bench.size(4_000, 1_000),
      cutMs: bench.size(15_000, 3_000),
    });
    return { '': rate };
  },
};
