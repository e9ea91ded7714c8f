import { forkRate } from './fork-rate.ts';
import { drainIsolated } from './isolated.ts';
import { RATE, type Workload } from '../workload.ts';

export const drainFresh: Workload = {
  name: 'drain-fresh',
  what:
    'Queued no-op jobs, each in a process of its own, four at a time; beside it how many ' +
    'children that import the same definition file this machine can fork.',
  systems: ['longshore', 'machine'],
  metrics: [RATE],
  rounds: { full: 5, quick: 1 },
  seconds: { full: 10, quick: 3 },
  async measure(bench, system) {
    const jobs = bench.size(400, 40);
    const warmup = bench.size(80, 10);
    if (system === 'machine') return { '': await forkRate(jobs - warmup, 4) };
    const cutMs = bench.size(20_000, 5_000);
    return { '': await drainIsolated(bench, system, { isolation: 'fresh', jobs, warmup, cutMs }) };
  },
};
