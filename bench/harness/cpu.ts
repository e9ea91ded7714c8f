import { cpuSecondsOf } from '../servers/processes.ts';
import type { Metric } from '../workloads/workload.ts';
import { nowMs } from './clock.ts';

const MICROSECONDS = 1e6;

/** The CPU cost of a job is steadier than its time: work of others on the machine is not in it. */
export const CPU = cpuMetrics('cpu-worker', 'cpu-server');

/** The same where the measured process only enqueues. */
export const CALLER_CPU = cpuMetrics('cpu-caller', 'cpu-server');

export function cpuMetrics(...keys: string[]): readonly Metric[] {
  return keys.map((key) => ({ key, unit: 'µs/job', better: 'less' }));
}

/** Who takes CPU, by metric: how many seconds until now. */
export type Consumers = Readonly<Record<string, () => number>>;

export interface CpuReading {
  atMs: number;
  seconds: Record<string, number>;
}

export function readCpu(consumers: Consumers): CpuReading {
  const seconds = Object.entries(consumers).map(([key, read]) => [key, read()] as const);
  return { atMs: nowMs(), seconds: Object.fromEntries(seconds) };
}

/** Microseconds per job between two readings, by metric. */
export function cpuPerJob(from: CpuReading, to: CpuReading, jobs: number): Record<string, number> {
  const each = Object.entries(to.seconds).map(([key, seconds]) => {
    return [key, ((seconds - (from.seconds[key] ?? 0)) / jobs) * MICROSECONDS] as const;
  });
  return Object.fromEntries(each);
}

/** Processes as one consumer, each with everything below it. */
export function processes(list: readonly { pid: number }[]): () => number {
  return () => list.reduce((sum, { pid }) => sum + cpuSecondsOf(pid), 0);
}
