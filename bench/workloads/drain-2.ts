import { drainQueued } from './drain-1.ts';
import { RATE, WORKERS, type Workload } from './workload.ts';

export const drain2: Workload = {
  name: 'drain-2',
  what: 'The same with two worker processes.',
  systems: WORKERS,
  metrics: [RATE],
  rounds: { full: 5, quick: 1 },
  seconds: { full: 8, quick: 4 },
  measure: async (bench, system) => await drainQueued(bench, system, 2),
};
