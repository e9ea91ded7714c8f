import type { Bench } from '../harness/bench.ts';
import { CPU } from '../harness/cpu.ts';
import { drain, type DrainPlan, fill } from './drain.ts';
import { RATE, WORKERS, type Workload } from './workload.ts';

/** One and two workers, with a small and a large backlog. */
export const drains: readonly Workload[] = [
  drainOf('drain-1', 1, 20_000),
  drainOf('drain-1-60k', 1, 60_000),
  drainOf('drain-2', 2, 20_000),
  drainOf('drain-2-60k', 2, 60_000),
  {
    ...drainOf('drain-async', 1, 20_000),
    what:
      'The same as `drain-1` with handlers that await something: each ends in a later turn of the ' +
      'event loop than it starts.',
    measure: async (bench, system) =>
      await drainQueued(bench, system, {
        workers: 1,
        jobs: bench.jobs(20_000, 4_000),
        awaits: true,
      }),
  },
];

function drainOf(name: string, workers: number, jobs: number): Workload {
  const processes = workers === 1 ? 'one worker process' : `${workers} worker processes`;
  return {
    name,
    what: `${jobs.toLocaleString('en-US')} queued no-op jobs are run by ${processes}, in that process, until none is left.`,
    systems: WORKERS,
    metrics: [RATE, ...CPU],
    rounds: { full: 5, quick: 1 },
    seconds: { full: 5 + jobs / 10_000, quick: 4 },
    measure: async (bench, system) =>
      await drainQueued(bench, system, { workers, jobs: bench.jobs(jobs, jobs / 5) }),
  };
}

async function drainQueued(
  bench: Bench,
  system: string,
  plan: DrainPlan,
): Promise<Record<string, number>> {
  await using store = await bench.store(system);
  await fill(bench, system, store.url, plan.jobs);
  const { perSecond, cpu } = await drain(bench, system, store, plan);
  return { '': perSecond, ...cpu };
}
