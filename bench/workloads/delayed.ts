import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../harness/numbers.ts';
import { startLongshore } from '../servers/longshore.ts';
import type { Workload } from './workload.ts';

/** Nobody has this definition, so its jobs stay where the promoter put them. */
const KEY = 'nobody';

export const delayed: Workload = {
  name: 'delayed',
  what:
    'A real `longshore start`: jobs with a delay of 100 to 900 ms, one at a time. How long after its ' +
    'time does each become claimable, both by the clock of the database.',
  systems: ['longshore'],
  metrics: [
    { key: 'p50', unit: 'ms', better: 'less' },
    { key: 'p99', unit: 'ms', better: 'less' },
    { key: 'max', unit: 'ms', better: 'less' },
  ],
  rounds: { full: 3, quick: 1 },
  seconds: { full: 120, quick: 20 },
  async measure(bench, system) {
    await using database = await bench.database(system);
    await using server = await startLongshore('start', database.url, ['--jobs', definitions]);
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

const definitions = new URL('../definitions/process.ts', import.meta.url).pathname;

async function post(port: number, body: object): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/jobs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (response.status !== 202) throw new Error(`refused: ${await response.text()}`);
}
