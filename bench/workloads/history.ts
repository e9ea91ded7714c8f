import { readFile } from 'node:fs/promises';
import pg from 'pg';
import type { Bench } from '../harness/bench.ts';
import { drain, type Drained, fill } from './drain.ts';
import { measurePair, PAIR_METRICS } from './pair.ts';
import type { Workload } from './workload.ts';

export const history: Workload = {
  name: 'history',
  what:
    'One worker drains 40,000 jobs while 2,000,000 finished ones of the last week are kept, and ' +
    'while none are. (pg-boss keeps its jobs too, the others nothing.)',
  systems: ['longshore'],
  ownTables: true,
  metrics: PAIR_METRICS,
  rounds: { full: 5, quick: 1 },
  seconds: { full: 30, quick: 10 },
  async measure(bench, system, round) {
    return await measurePair(
      round,
      async () => await drainBeside(bench, system, 0),
      async () => await drainBeside(bench, system, bench.size(2_000_000, 50_000)),
    );
  },
};

async function drainBeside(bench: Bench, system: string, finished: number): Promise<Drained> {
  const jobs = bench.jobs(40_000, 8_000);
  const filled = {
    name: `history_${finished}`,
    fill: async (url: string) => await makeHistory(url, finished),
  };
  await using database = await bench.database(system, 'throughput', filled);
  await fill(bench, system, database.url, jobs);
  return await drain(bench, system, database, { jobs });
}

/** Straight into the tables, as seven days of work would have left them. */
async function makeHistory(url: string, finished: number): Promise<void> {
  if (finished === 0) return;
  const read = async (name: string) => await readFile(new URL(name, import.meta.url), 'utf8');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("select set_config('bench.finished', $1, false)", [`${finished}`]);
    await client.query(await read('sql/days.sql'));
    await client.query(await read('sql/history.sql'));
    // A week of work has been vacuumed and analysed many times over.
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}
