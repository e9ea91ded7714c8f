import { enqueueRate } from './enqueue.ts';
import { PRODUCERS, RATE, type Workload } from './workload.ts';

export const enqueue1: Workload = {
  name: 'enqueue-1',
  what: 'One caller enqueues one job after another, each acknowledged before the next.',
  systems: PRODUCERS,
  metrics: [RATE],
  rounds: { full: 5, quick: 1 },
  seconds: { full: 7, quick: 2 },
  measure: async (bench, system) => await enqueueRate(bench, system, 1),
};
