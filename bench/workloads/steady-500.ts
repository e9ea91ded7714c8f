import type { Bench } from '../harness/bench.ts';
import { type Consumers, CPU, cpuPerJob, processes, readCpu } from '../harness/cpu.ts';
import { percentile } from '../harness/numbers.ts';
import type { Store } from '../servers/store.ts';
import { WORKERS, type Workload } from './workload.ts';

const PER_SECOND = 500;
const PATIENCE_MS = 20_000;

export const steady500: Workload = {
  name: 'steady-500',
  what:
    '500 jobs a second, whatever the answers take: latency from enqueue call to handler start, ' +
    'and CPU of the worker process and of the whole server (PostgreSQL or Redis).',
  systems: WORKERS.filter((name) => name !== 'graphile-max'),
  metrics: [
    { key: 'p50', unit: 'ms', better: 'less' },
    { key: 'p99', unit: 'ms', better: 'less' },
    ...CPU,
    { key: 'cpu', unit: 'µs/job', better: 'less' },
  ],
  rounds: { full: 3, quick: 1 },
  seconds: { full: 27, quick: 6 },
  async measure(bench, system) {
    await using store = await bench.store(system, 'latency');
    const { p50, p99, cpu } = await steadily(bench, system, store);
    return { p50, p99, ...cpu, cpu: Object.values(cpu).reduce((sum, value) => sum + value, 0) };
  },
};

export interface Steady {
  p50: number;
  p99: number;
  /** Microseconds per job. */
  cpu: Record<string, number>;
}

/** One producer enqueues steadily; one worker, with `url` as its source of jobs, runs them. */
export async function steadily(
  bench: Bench,
  system: string,
  store: Store,
  { url = store.url, consumers: more = {} }: { url?: string; consumers?: Consumers } = {},
): Promise<Steady> {
  const warmup = PER_SECOND * bench.size(2, 0.5);
  const seconds = bench.size(20, 2);
  const jobs = PER_SECOND * seconds;
  const aim = 'latency';
  await using worker = await bench.open({ system, url, role: 'worker', aim });
  await using producer = await bench.open({ system, url: store.url, role: 'producer', aim });

  await producer.call('enqueueSteadily', PER_SECOND, warmup / PER_SECOND);
  await worker.reaches(warmup, PATIENCE_MS);
  const consumers = { 'cpu-worker': processes([worker]), 'cpu-server': store.cpuSeconds, ...more };
  const before = readCpu(consumers);
  await producer.call('enqueueSteadily', PER_SECOND, seconds);
  if (!(await worker.reaches(warmup + jobs, PATIENCE_MS))) throw new Error('it fell behind');
  const cpu = cpuPerJob(before, readCpu(consumers), jobs);

  const latencies = (await worker.call('latencies')).slice(warmup);
  await Promise.all([producer.stop(), worker.stop()]);
  return { p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99), cpu };
}
