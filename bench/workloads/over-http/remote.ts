import type { Bench } from '../../harness/bench.ts';
import { cpuMetrics, processes } from '../../harness/cpu.ts';
import { drain, type Drained, fill } from '../drain.ts';
import type { Workload } from '../workload.ts';

/** A worker over HTTP beside a worker with a database connection, one right after the other. */
export const remote: Workload = {
  name: 'remote',
  what:
    '20,000 queued no-op jobs are run by one worker over HTTP through a real `longshore api`, and by ' +
    'one with a database connection.',
  systems: ['longshore'],
  metrics: [
    { key: 'remote', unit: 'jobs/s', better: 'more' },
    { key: 'direct', unit: 'jobs/s', better: 'more' },
    { key: 'ratio', unit: '× direct', better: 'more' },
    ...cpuMetrics('cpu-worker', 'cpu-api', 'cpu-server'),
  ],
  rounds: { full: 5, quick: 1 },
  seconds: { full: 16, quick: 6 },
  async measure(bench, system, round) {
    const early = round % 2 === 0 ? await overHttp(bench, system) : undefined;
    const direct = await fromDatabase(bench, system);
    const http = early ?? (await overHttp(bench, system));
    const ratio = http.perSecond / direct.perSecond;
    return { remote: http.perSecond, direct: direct.perSecond, ratio, ...http.cpu };
  },
};

async function overHttp(bench: Bench, system: string): Promise<Drained> {
  const jobs = bench.jobs(20_000, 4_000);
  await using database = await bench.database(system);
  await fill(bench, system, database.url, jobs);
  await using server = await bench.server(system, 'api', database.url);
  const url = `http://127.0.0.1:${server.port}`;
  const consumers = { 'cpu-api': processes([server]) };
  return await drain(bench, system, database, { jobs, url, consumers });
}

async function fromDatabase(bench: Bench, system: string): Promise<Drained> {
  const jobs = bench.jobs(20_000, 4_000);
  await using database = await bench.database(system);
  await fill(bench, system, database.url, jobs);
  return await drain(bench, system, database, { jobs });
}
