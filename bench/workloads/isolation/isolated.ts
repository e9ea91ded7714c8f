import type { Bench } from '../../harness/bench.ts';
import { nowMs } from '../../harness/clock.ts';
import { CPU, cpuPerJob, processes, readCpu } from '../../harness/cpu.ts';
import { median } from '../../harness/numbers.ts';
import { memoryMbOf, treeOf } from '../../servers/processes.ts';
import type { Isolation } from '../../systems/system.ts';
import { type Drained, fill } from '../drain.ts';
import { type Metric, RATE } from '../workload.ts';

const START_MS = 30_000;
const POLL_MS = 50;
const CLOSE_POLL_MS = 5;

export const ISOLATED_METRICS: readonly Metric[] = [
  RATE,
  ...CPU,
  { key: 'runner-pss', unit: 'MB', better: 'less' },
  { key: 'runner-rss', unit: 'MB', better: 'less' },
];

export interface IsolatedDrain extends Drained {
  /** The median of the processes in which handlers run, at the end of the warm-up. */
  runnerMb: { pss: number; rss: number };
}

/**
 * A drain whose handlers run in other processes, where they cannot be counted. The store is asked
 * instead, rarely, and more often towards the end.
 */
export async function drainIsolated(
  bench: Bench,
  system: string,
  plan: { isolation: Isolation; jobs: number; warmup: number; cutMs: number },
): Promise<IsolatedDrain> {
  await using store = await bench.store(system);
  const { isolation, jobs } = plan;
  await fill(bench, system, store.url, jobs, { isolation });
  const beginMs = nowMs();
  await using agent = await bench.open({ system, url: store.url, role: 'worker', isolation });
  const consumers = { 'cpu-worker': processes([agent]), 'cpu-server': store.cpuSeconds };
  let from = { cpu: readCpu(consumers), left: jobs, atMs: beginMs };
  let runnerMb: IsolatedDrain['runnerMb'] | undefined;
  let cutAtMs = beginMs + START_MS;
  for (;;) {
    const left = await store.unfinished();
    const cpu = readCpu(consumers);
    if (left < jobs) cutAtMs = Math.min(cutAtMs, cpu.atMs + plan.cutMs);
    if (left === 0 || cpu.atMs > cutAtMs) {
      runnerMb ??= memoryOfRunners(agent.pid);
      await agent.stop();
      const done = from.left - left;
      return {
        perSecond: (done / (cpu.atMs - from.atMs)) * 1_000,
        cpu: cpuPerJob(from.cpu, cpu, done),
        runnerMb,
      };
    }
    if (!runnerMb && left <= jobs - plan.warmup) {
      from = { cpu, left, atMs: cpu.atMs };
      runnerMb = memoryOfRunners(agent.pid);
    }
    await agent.alive(left < jobs / 10 ? CLOSE_POLL_MS : POLL_MS);
  }
}

export function figuresOf({ perSecond, cpu, runnerMb }: IsolatedDrain): Record<string, number> {
  return { '': perSecond, ...cpu, 'runner-pss': runnerMb.pss, 'runner-rss': runnerMb.rss };
}

/** Runners have no children; a process that just ended or started has no memory worth counting. */
function memoryOfRunners(pid: number): { pss: number; rss: number } {
  const tree = treeOf(pid);
  const runners = tree.filter((each) => each !== pid && treeOf(each).length === 1);
  const memory = runners.map(memoryMbOf).filter(({ rss }) => rss > 20);
  return { pss: median(memory.map(({ pss }) => pss)), rss: median(memory.map(({ rss }) => rss)) };
}
