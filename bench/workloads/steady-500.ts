import { percentile } from '../harness/numbers.ts';
import { WORKERS, type Workload } from './workload.ts';

const PER_SECOND = 500;
const PATIENCE_MS = 20_000;

export const steady500: Workload = {
  name: 'steady-500',
  what:
    '500 jobs a second, whatever the answers take: latency from enqueue call to handler start, ' +
    'and CPU of the worker process and of the whole server (PostgreSQL or Redis) per 1,000 jobs.',
  systems: WORKERS.filter((name) => name !== 'graphile-max'),
  metrics: [
    { key: 'p50', unit: 'ms', better: 'less' },
    { key: 'p99', unit: 'ms', better: 'less' },
    { key: 'cpu-worker', unit: 's/1000 jobs', better: 'less' },
    { key: 'cpu-server', unit: 's/1000 jobs', better: 'less' },
    { key: 'cpu', unit: 's/1000 jobs', better: 'less' },
  ],
  rounds: { full: 3, quick: 1 },
  seconds: { full: 27, quick: 6 },
  async measure(bench, system) {
    const warmup = PER_SECOND * bench.size(2, 0.5);
    const seconds = bench.size(20, 2);
    const jobs = PER_SECOND * seconds;
    const aim = 'latency';
    await using store = await bench.store(system, aim);
    await using worker = await bench.open({ system, url: store.url, role: 'worker', aim });
    await using producer = await bench.open({ system, url: store.url, role: 'producer', aim });
    const cpu = async () => [await worker.call('cpuSeconds'), await store.cpuSeconds()] as const;

    await producer.call('enqueueSteadily', PER_SECOND, warmup / PER_SECOND);
    await worker.reaches(warmup, PATIENCE_MS);
    const before = await cpu();
    await producer.call('enqueueSteadily', PER_SECOND, seconds);
    if (!(await worker.reaches(warmup + jobs, PATIENCE_MS))) throw new Error('it fell behind');
    const after = await cpu();

    const latencies = (await worker.call('latencies')).slice(warmup);
    await Promise.all([producer.stop(), worker.stop()]);
    const cpuWorker = ((after[0] - before[0]) / jobs) * 1_000;
    const cpuServer = ((after[1] - before[1]) / jobs) * 1_000;
    return {
      p50: percentile(latencies, 0.5),
      p99: percentile(latencies, 0.99),
      'cpu-worker': cpuWorker,
      'cpu-server': cpuServer,
      cpu: cpuWorker + cpuServer,
    };
  },
};
