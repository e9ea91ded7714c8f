import type { Bench } from '../harness/bench.ts';
import { CALLER_CPU, type Consumers, cpuPerJob, processes, readCpu } from '../harness/cpu.ts';
import { PRODUCERS, RATE, type Workload } from './workload.ts';

/** Callers in one process, each of which enqueues one job after another. */
export const enqueues: readonly Workload[] = [
  enqueueOf(1, 'One caller enqueues one job after another, each acknowledged before the next.'),
  enqueueOf(32, '32 callers in one process, each enqueues one job after another.'),
];

function enqueueOf(callers: number, what: string): Workload {
  return {
    name: `enqueue-${callers}`,
    what,
    systems: PRODUCERS,
    metrics: [RATE, ...CALLER_CPU],
    rounds: { full: 5, quick: 1 },
    seconds: { full: 7, quick: 2 },
    async measure(bench, system) {
      await using store = await bench.store(system);
      const { perSecond, cpu } = await enqueueRate(
        bench,
        system,
        { url: store.url, callers },
        { 'cpu-server': store.cpuSeconds },
      );
      return { '': perSecond, ...cpu };
    },
  };
}

export interface Enqueued {
  /** Acknowledged jobs. */
  perSecond: number;
  /** Microseconds per job, by metric. */
  cpu: Record<string, number>;
}

export async function enqueueRate(
  bench: Bench,
  system: string,
  { url, callers }: { url: string; callers: number },
  servers: Consumers,
): Promise<Enqueued> {
  await using agent = await bench.open({ system, url, role: 'producer' });
  const consumers = { 'cpu-caller': processes([agent]), ...servers };
  await agent.call('enqueueLoop', callers, bench.size(1_000, 300));
  const before = readCpu(consumers);
  const { jobs, ms } = await agent.call('enqueueLoop', callers, bench.size(4_000, 1_000));
  const cpu = cpuPerJob(before, readCpu(consumers), jobs);
  await agent.stop();
  return { perSecond: (jobs / ms) * 1_000, cpu };
}
