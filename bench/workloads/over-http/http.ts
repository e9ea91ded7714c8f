import type { Bench } from '../../harness/bench.ts';
import { cpuMetrics, cpuPerJob, processes, readCpu } from '../../harness/cpu.ts';
import { percentile } from '../../harness/numbers.ts';
import type { Workload } from '../workload.ts';

const CONNECTIONS = 32;
const BATCH = 100;

export const http: Workload = {
  name: 'http',
  what:
    'A real `longshore api` over 32 keep-alive connections, each asking again when answered: ' +
    'POST /v1/jobs, and POST /v1/jobs/batch with 100 jobs each. Client, server and PostgreSQL ' +
    'share the machine.',
  systems: ['longshore'],
  metrics: [
    { key: 'single', unit: 'jobs/s', better: 'more' },
    { key: 'single-p99', unit: 'ms', better: 'less' },
    { key: 'batch', unit: 'jobs/s', better: 'more' },
    { key: 'batch-p99', unit: 'ms', better: 'less' },
    ...cpuMetrics('single-cpu-api', 'single-cpu-server', 'batch-cpu-api', 'batch-cpu-server'),
  ],
  rounds: { full: 5, quick: 1 },
  seconds: { full: 16, quick: 6 },
  async measure(bench, system) {
    return {
      ...(await post(bench, system, 'single', '/v1/jobs', 1)),
      ...(await post(bench, system, 'batch', '/v1/jobs/batch', BATCH)),
    };
  },
};

async function post(
  bench: Bench,
  system: string,
  name: string,
  path: string,
  jobsPerRequest: number,
): Promise<Record<string, number>> {
  await using database = await bench.database(system);
  await using server = await bench.server(system, 'api', database.url);
  await using agent = bench.agent(system);
  const { port } = server;
  const load = { port, connections: CONNECTIONS, path, jobsPerRequest, definitionKey: 'noop' };
  await agent.call('httpLoad', { ...load, seconds: bench.size(1, 0.5) });
  const consumers = {
    [`${name}-cpu-api`]: processes([server]),
    [`${name}-cpu-server`]: database.cpuSeconds,
  };
  const before = readCpu(consumers);
  const report = await agent.call('httpLoad', { ...load, seconds: bench.size(4, 1) });
  const cpu = cpuPerJob(before, readCpu(consumers), report.jobs);
  if (report.refused > 0) throw new Error(`${report.refused} jobs were not accepted`);
  return {
    [name]: report.jobs / report.seconds,
    [`${name}-p99`]: percentile(report.answersMs, 0.99),
    ...cpu,
  };
}
