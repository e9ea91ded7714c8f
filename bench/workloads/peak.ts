import type pg from 'pg';
import { nowMs, sleep } from '../harness/clock.ts';
import { percentile } from '../harness/numbers.ts';
import type { Workload } from './workload.ts';

const PER_SECOND = 1_000;
const CONNECTIONS = 32;
const PATIENCE_MS = 60_000;
const SAMPLE_MS = 500;
export const peak: Workload = {
  name: 'peak',
  what:
    'A real `longshore start` takes 1,000 POST /v1/jobs a second for 60 s and runs each job in ' +
    'an isolated process; all of it, client and PostgreSQL included, on this machine. Latency is ' +
    'from the moment the call is due to the start of the handler.',
  systems: ['longshore'],
  ownTables: true,
  metrics: [
    { key: 'ended', unit: '% of jobs', better: 'more' },
    { key: 'p50', unit: 'ms', better: 'less' },
    { key: 'p99', unit: 'ms', better: 'less' },
    { key: 'answer-p99', unit: 'ms', better: 'less' },
    { key: 'backlog-first-third', unit: 'jobs', better: 'less' },
    { key: 'backlog-last-third', unit: 'jobs', better: 'less' },
    { key: 'backlog-max', unit: 'jobs', better: 'less' },
  ],
  rounds: { full: 3, quick: 1 },
  seconds: { full: 75, quick: 15 },
  async measure(bench, system) {
    const seconds = bench.size(60, 5);
    const jobs = PER_SECOND * seconds;
    await using database = await bench.database(system);
    const definitions = bench.checkout(system).definitionFile('peak.ts');
    await using server = await bench.server(system, 'start', database.url, ['--jobs', definitions]);
    await using agent = bench.agent(system);
    const load = {
      port: server.port,
      connections: CONNECTIONS,
      path: '/v1/jobs',
      jobsPerRequest: 1,
      definitionKey: 'peak',
    };
    // The runners start and the code gets warm before the clock does.
    await agent.call('httpLoad', { ...load, seconds: 2, perSecond: 100 });
    const warmup = 200;

    const depths: number[] = [];
    const loaded = new AbortController();
    const sampling = (async () => {
      while (!loaded.signal.aborted) {
        depths.push(await database.unfinished());
        await sleep(SAMPLE_MS);
      }
    })();
    const report = await agent.call('httpLoad', { ...load, seconds, perSecond: PER_SECOND });
    loaded.abort();
    await sampling;
    const deadlineMs = nowMs() + PATIENCE_MS;
    while (!(await database.isDrained()) && nowMs() < deadlineMs) await sleep(SAMPLE_MS / 5);

    const { ended, latencies } = await outcomes(database.client, warmup);
    const third = Math.ceil(depths.length / 3);
    return {
      ended: (ended / jobs) * 100,
      p50: percentile(latencies, 0.5),
      p99: percentile(latencies, 0.99),
      'answer-p99': percentile(report.answersMs, 0.99),
      'backlog-first-third': percentile(depths.slice(0, third), 0.5),
      'backlog-last-third': percentile(depths.slice(-third), 0.5),
      'backlog-max': Math.max(...depths),
    };
  },
};

/** Each result is the moment at which its handler started; the params say when it was due. */
async function outcomes(
  client: pg.Client,
  skip: number,
): Promise<{ ended: number; latencies: number[] }> {
  const { rows } = await client.query<{ ms: number }>(
    `select (d.result #>> '{}')::float8 - (j.params ->> 'at')::float8 as ms
     from longshore.done d join longshore.job j on j.shard = d.shard and j.id = d.id
     where d.state = 'succeeded' order by d.id offset $1`,
    [skip],
  );
  return { ended: rows.length, latencies: rows.map(({ ms }) => ms) };
}
