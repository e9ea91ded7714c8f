import { forkRate } from './fork-rate.ts';
import { drainIsolated, figuresOf, ISOLATED_METRICS } from './isolated.ts';
import type { Workload } from '../workload.ts';

export const drainFresh: Workload = {
  name: 'drain-fresh',
  what:
    'Queued no-op jobs, each in a process of its own, four at a time, and the memory of such a ' +
    'process; `machine` is how many empty modules this machine can fork.',
  systems: ['longshore', 'machine'],
  metrics: ISOLATED_METRICS,
  rounds: { full: 5, quick: 1 },
  seconds: { full: 25, quick: 5 },
  async measure(bench, system) {
    const jobs = bench.size(400, 40);
    if (system === 'machine') return { '': await forkRate(jobs, 4) };
    const cutMs = bench.size(20_000, 5_000);
    const plan = { isolation: 'fresh', jobs, warmup: jobs / 5, cutMs } as const;
    return figuresOf(await drainIsolated(bench, system, plan));
  },
};
