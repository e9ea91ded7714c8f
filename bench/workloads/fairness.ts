import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from '../harness/bench.ts';
import { percentile } from '../harness/numbers.ts';
import { fill } from './drain.ts';
import type { Workload } from './workload.ts';

/** Far enough apart that each finds the worker as busy as the first. */
const APART_MS = 100;

export const fairness: Workload = {
  name: 'fairness',
  what:
    'A real `longshore start` works on 100,000 jobs of one tenant, at full speed. Another tenant brings ' +
    'one job at a time: how many of the others start between its commit and its own start.',
  systems: ['longshore'],
  ownTables: true,
  metrics: [
    { key: 'overtaken-by-p50', unit: 'jobs', better: 'less' },
    { key: 'overtaken-by-p99', unit: 'jobs', better: 'less' },
    { key: 'overtaken-by-max', unit: 'jobs', better: 'less' },
  ],
  rounds: { full: 3, quick: 1 },
  seconds: { full: 40, quick: 15 },
  async measure(bench, system) {
    const others = await overtakenBy(bench, system);
    return {
      'overtaken-by-p50': percentile(others, 0.5),
      'overtaken-by-p99': percentile(others, 0.99),
      'overtaken-by-max': Math.max(...others),
    };
  },
};

async function overtakenBy(bench: Bench, system: string): Promise<number[]> {
  await using database = await bench.database(system);
  await fill(bench, system, database.url, bench.size(100_000, 30_000), { isolation: 'process' });
  const definitions = bench.checkout(system).definitionFile('process.ts');
  await using server = await bench.server(system, 'start', database.url, ['--jobs', definitions]);
  await post(server.port, '/v1/tenants', { tenant: 'quiet' });
  const samples = bench.size(40, 8);
  for (let n = 0; n < samples; n += 1) {
    const job = { definitionKey: 'noop-process', params: { n } };
    await post(server.port, '/v1/jobs?tenant=quiet', job);
    await sleep(APART_MS);
  }
  const { rows } = await database.client.query<{ left: boolean }>(
    `select exists (select 1 from longshore.waiting where seq is not null) as left`,
  );
  if (!rows[0]?.left) throw new Error('the noisy tenant had nothing left: nothing was measured');
  await sleep(1_000);
  const { rows: started } = await database.client.query<{ others: number }>(OTHERS);
  if (started.length !== samples) throw new Error(`${samples - started.length} jobs did not start`);
  return started.map(({ others }) => others);
}

const OTHERS = `
  select (
    select count(*)::int from longshore.done o
    where o.queue <> d.queue and o.started_at > j.created_at and o.started_at < d.started_at) as others
  from longshore.done d
  join longshore.job j on j.shard = d.shard and j.id = d.id
  join longshore.queue l on l.shard = d.shard and l.queue = d.queue
  where l.tenant = 'quiet'`;

async function post(port: number, path: string, body: object): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path} was refused: ${await response.text()}`);
}
