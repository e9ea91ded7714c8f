import { enqueueRate } from './enqueue.ts';
import { PRODUCERS, RATE, type Workload } from './workload.ts';

export const enqueue32: Workload = {
  name: 'enqueue-32',
  what: '32 callers in one process, each enqueues one job after another.',
  systems: PRODUCERS,
  metrics: [RATE],
  rounds: { full: 5, quick: 1 },
  seconds: { full: 7, quick: 2 },
  measure: async (bench, system) => await enqueueRate(bench, system, 32),
};
