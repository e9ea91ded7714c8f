import type { Bench } from '../../harness/bench.ts';
import { cpuMetrics, type Consumers, processes } from '../../harness/cpu.ts';
import { steadily, type Steady } from '../steady-500.ts';
import type { Workload } from '../workload.ts';

/** A steady load for a worker over HTTP, and for one with a database connection. */
export const remote500: Workload = {
  name: 'remote-500',
  what:
    '500 jobs a second for one worker over HTTP through a real `longshore api`, and for one with a ' +
    'database connection: latency from enqueue call to handler start. The same producer enqueues ' +
    'into the database for both.',
  systems: ['longshore'],
  metrics: [
    { key: 'p50', unit: 'ms', better: 'less' },
    { key: 'p99', unit: 'ms', better: 'less' },
    { key: 'direct-p50', unit: 'ms', better: 'less' },
    { key: 'direct-p99', unit: 'ms', better: 'less' },
    { key: 'p99-ratio', unit: '× direct', better: 'less' },
    ...cpuMetrics('cpu-worker', 'cpu-api', 'cpu-server'),
  ],
  rounds: { full: 3, quick: 1 },
  seconds: { full: 54, quick: 12 },
  async measure(bench, system, round) {
    const early = round % 2 === 0 ? await overHttp(bench, system) : undefined;
    const direct = await fromDatabase(bench, system);
    const http = early ?? (await overHttp(bench, system));
    return {
      p50: http.p50,
      p99: http.p99,
      'direct-p50': direct.p50,
      'direct-p99': direct.p99,
      'p99-ratio': http.p99 / direct.p99,
      ...http.cpu,
    };
  },
};

async function overHttp(bench: Bench, system: string): Promise<Steady> {
  await using database = await bench.database(system, 'latency');
  await using server = await bench.server(system, 'api', database.url);
  const consumers: Consumers = { 'cpu-api': processes([server]) };
  const url = `http://127.0.0.1:${server.port}`;
  return await steadily(bench, system, database, { url, consumers });
}

async function fromDatabase(bench: Bench, system: string): Promise<Steady> {
  await using database = await bench.database(system, 'latency');
  return await steadily(bench, system, database);
}
