import type { Bench } from '../harness/bench.ts';

/** Callers in one process that enqueue one job after another: acknowledged jobs per second. */
export async function enqueueRate(
  bench: Bench,
  system: string,
  callers: number,
): Promise<Record<string, number>> {
  await using store = await bench.store(system);
  await using agent = await bench.open({ system, url: store.url, role: 'producer' });
  const warmupMs = bench.size(1_000, 200);
  const { jobs, ms } = await agent.call('enqueueLoop', callers, warmupMs, bench.size(4_000, 500));
  await agent.stop();
  return { '': (jobs / ms) * 1_000 };
}
