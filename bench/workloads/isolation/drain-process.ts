import { drainIsolated, figuresOf, ISOLATED_METRICS } from './isolated.ts';
import type { Workload } from '../workload.ts';

export const drainProcess: Workload = {
  name: 'drain-process',
  what:
    'Queued no-op jobs, each run in one of four warm child processes of one worker, and the ' +
    'memory of such a process.',
  systems: ['longshore', 'bullmq-redis'],
  metrics: ISOLATED_METRICS,
  rounds: { full: 5, quick: 1 },
  seconds: { full: 12, quick: 5 },
  async measure(bench, system) {
    const jobs = bench.jobs(20_000, 4_000);
    const cutMs = bench.size(15_000, 3_000);
    const plan = { isolation: 'process', jobs, warmup: jobs / 5, cutMs } as const;
    return figuresOf(await drainIsolated(bench, system, plan));
  },
};
