import type { Agent } from '../agent/agent.ts';
import type { Bench } from '../harness/bench.ts';
import { sleep } from '../harness/clock.ts';
import { CPU, cpuPerJob, processes, readCpu } from '../harness/cpu.ts';
import { percentile } from '../harness/numbers.ts';
import { SAME_PROCESS } from '../systems/catalogue.ts';
import { WORKERS, type Workload } from './workload.ts';

const WARMUP = 20;
const PATIENCE_MS = 10_000;

export const latencyIdle: Workload = {
  name: 'latency-idle',
  what:
    'Nothing else to do: one job at a time, from the enqueue call in one process to the start of ' +
    'its handler in another (longshore-same-process: in the same one).',
  systems: ['longshore', SAME_PROCESS, ...WORKERS.slice(1)].filter(
    (name) => name !== 'graphile-max',
  ),
  metrics: [
    { key: 'p50', unit: 'ms', better: 'less' },
    { key: 'p95', unit: 'ms', better: 'less' },
    { key: 'p99', unit: 'ms', better: 'less' },
    ...CPU,
  ],
  rounds: { full: 5, quick: 1 },
  seconds: { full: 7, quick: 3 },
  async measure(bench, system) {
    await using store = await bench.store(system, 'latency');
    await using stack = new AsyncDisposableStack();
    const { producer, worker } = await openPair(bench, system, store.url, stack);
    await worker.call('reportEachStart');
    const samples = bench.size(200, 40);
    const consumers = { 'cpu-worker': processes([worker]), 'cpu-server': store.cpuSeconds };
    let warm = readCpu(consumers);
    for (let n = 1; n <= WARMUP + samples; n++) {
      if (n === WARMUP + 1) warm = readCpu(consumers);
      const [started] = await Promise.all([
        worker.reaches(n, PATIENCE_MS),
        producer.call('enqueueOne', n),
      ]);
      if (!started) throw new Error('a job was not started');
      // Not in step with any timer of the system, and long enough for it to settle the job.
      await sleep(5 + Math.random() * 10);
    }
    const cpu = cpuPerJob(warm, readCpu(consumers), samples);
    const latencies = (await worker.call('latencies')).slice(WARMUP);
    await Promise.all([...new Set([producer, worker])].map(async (agent) => agent.stop()));
    return {
      p50: percentile(latencies, 0.5),
      p95: percentile(latencies, 0.95),
      p99: percentile(latencies, 0.99),
      ...cpu,
    };
  },
};

async function openPair(
  bench: Bench,
  system: string,
  url: string,
  stack: AsyncDisposableStack,
): Promise<{ producer: Agent; worker: Agent }> {
  const command = { system, url, aim: 'latency' } as const;
  if (system === SAME_PROCESS) {
    const agent = stack.use(await bench.open({ ...command, role: 'both' }));
    return { producer: agent, worker: agent };
  }
  const worker = stack.use(await bench.open({ ...command, role: 'worker' }));
  const producer = stack.use(await bench.open({ ...command, role: 'producer' }));
  return { producer, worker };
}
