import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../harness/numbers.ts';
import type { Workload } from './workload.ts';

/** No worker has this definition, so its jobs stay where the promoter put them. */
const KEY = 'unserved';

export const delayed: Workload = {
  name: 'delayed',
  what:
    'A real `longshore start`: jobs with a delay of 100 to 900 ms, one at a time. How long after its ' +
    'time does each become claimable, both by the clock of the database.',
  systems: ['longshore'],
  ownTables: true,
  metrics: [
    { key: 'p50', unit: 'ms', better: 'less' },
    { key: 'p99', unit: 'ms', better: 'less' },
    { key: 'max', unit: 'ms', better: 'less' },
  ],
  rounds: { full: 3, quick: 1 },
  seconds: { full: 120, quick: 20 },
  async measure(bench, system) {
    await using database = await bench.database(system);
    const definitions = bench.checkout(system).definitionFile('process.ts');
    await using server = await bench.server(system, 'start', database.url, ['--jobs', definitions]);
    const samples = bench.size(200, 30);
    for (let n = 0; n < samples; n++) {
      const delayMs = 100 + Math.round(Math.random() * 800);
      await post(server.port, { definitionKey: KEY, delayMs });
      await sleep(delayMs * Math.random());
    }
    await sleep(2_000);
    const { rows } = await database.client.query<{ late_ms: number }>(
      `select (extract(epoch from queued_at - run_at) * 1000)::float8 as late_ms
       from longshore.waiting where state = 'queued'`,
    );
    if (rows.length !== samples) throw new Error(`${samples - rows.length} jobs are not due yet`);
    const late = rows.map((row) => row.late_ms);
    return { p50: percentile(late, 0.5), p99: percentile(late, 0.99), max: Math.max(...late) };
  },
};

async function post(port: number, body: object): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/jobs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (response.status !== 202) throw new Error(`refused: ${await response.text()}`);
}
