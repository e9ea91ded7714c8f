import type pg from 'pg';
import { drain, fill } from './drain.ts';
import { ON_POSTGRES, type Workload } from './workload.ts';

export const wal: Workload = {
  name: 'wal',
  what:
    'WAL bytes per job for enqueueing 20,000 in bulk and for draining them, and row ' +
    'versions that the whole life of a job leaves behind for vacuum.',
  systems: ON_POSTGRES,
  metrics: [
    { key: 'enqueue', unit: 'B/job', better: 'less' },
    { key: 'drain', unit: 'B/job', better: 'less' },
    { key: 'dead', unit: 'rows/job', better: 'less' },
  ],
  rounds: { full: 3, quick: 1 },
  seconds: { full: 8, quick: 4 },
  async measure(bench, system) {
    const jobs = bench.size(20_000, 3_000);
    await using database = await bench.database(system);
    const { client } = database;
    const start = await walBytes(client);
    await fill(bench, system, database.url, jobs);
    const enqueued = await walBytes(client);
    await drain(bench, system, database, { jobs, warmup: 0, cutMs: 60_000 });
    const drained = await walBytes(client);
    return {
      enqueue: (enqueued - start) / jobs,
      drain: (drained - enqueued) / jobs,
      dead: (await deadRows(client)) / jobs,
    };
  },
};

async function walBytes(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>(
    "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as bytes",
  );
  return Number(rows[0]?.bytes);
}

/** Every update and delete leaves one; what vacuum has removed meanwhile counts as well. */
async function deadRows(client: pg.Client): Promise<number> {
  await client.query('select pg_stat_clear_snapshot()');
  const { rows } = await client.query<{ dead: string }>(
    'select sum(n_tup_upd + n_tup_del) as dead from pg_stat_user_tables',
  );
  return Number(rows[0]?.dead);
}
