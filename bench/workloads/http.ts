import { Agent } from '../agent/agent.ts';
import type { Bench } from '../harness/bench.ts';
import { percentile } from '../harness/numbers.ts';
import { startLongshore } from '../servers/longshore.ts';
import type { Workload } from './workload.ts';

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
  ],
  rounds: { full: 5, quick: 1 },
  seconds: { full: 16, quick: 6 },
  async measure(bench, system) {
    const single = await post(bench, system, '/v1/jobs', 1);
    const batch = await post(bench, system, '/v1/jobs/batch', BATCH);
    return {
      single: single.perSecond,
      'single-p99': single.p99,
      batch: batch.perSecond,
      'batch-p99': batch.p99,
    };
  },
};

async function post(bench: Bench, system: string, path: string, jobsPerRequest: number) {
  await using database = await bench.database(system);
  await using server = await startLongshore('api', database.url);
  await using agent = new Agent();
  const { port } = server;
  const load = { port, connections: CONNECTIONS, path, jobsPerRequest, definitionKey: 'noop' };
  await agent.call('httpLoad', { ...load, seconds: bench.size(1, 0.5) });
  const report = await agent.call('httpLoad', { ...load, seconds: bench.size(4, 1) });
  if (report.refused > 0) throw new Error(`${report.refused} jobs were not accepted`);
  return { perSecond: report.jobs / report.seconds, p99: percentile(report.answersMs, 0.99) };
}
