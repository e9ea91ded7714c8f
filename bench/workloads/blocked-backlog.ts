import { readFile } from 'node:fs/promises';
import pg from 'pg';
import type { Bench } from '../harness/bench.ts';
import { drain, type Drained, fill } from './drain.ts';
import { measurePair, PAIR_METRICS } from './pair.ts';
import type { Workload } from './workload.ts';

export const blockedBacklog: Workload = {
  name: 'blocked-backlog',
  what:
    'One worker drains 40,000 jobs beside 1,000,000 that cannot run now (a limit that is used up, a ' +
    'pause, a concurrency key that is taken, a definition that no worker serves), and beside none.',
  systems: ['longshore'],
  ownTables: true,
  metrics: PAIR_METRICS,
  rounds: { full: 5, quick: 1 },
  seconds: { full: 40, quick: 10 },
  async measure(bench, system, round) {
    return await measurePair(
      round,
      async () => await drainBeside(bench, system, 0),
      async () => await drainBeside(bench, system, bench.size(1_000_000, 40_000)),
    );
  },
};

/** Ends with the last handler: what is blocked stays, so the store never gets empty. */
async function drainBeside(bench: Bench, system: string, blocked: number): Promise<Drained> {
  const jobs = bench.jobs(40_000, 8_000);
  const filled = {
    name: `blocked_${blocked}`,
    fill: async (url: string) => await makeBlocked(url, blocked),
  };
  await using database = await bench.database(system, 'throughput', filled);
  await fill(bench, system, database.url, jobs);
  return await drain(bench, system, database, { jobs, end: 'handlers' });
}

/** Straight into the tables, as enqueueing and claiming would have left them. */
async function makeBlocked(url: string, blocked: number): Promise<void> {
  if (blocked === 0) return;
  const sql = await readFile(new URL('sql/blocked.sql', import.meta.url), 'utf8');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("select set_config('bench.blocked', $1, false)", [`${blocked}`]);
    await client.query(sql);
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}
