import type { Outcome } from '../../src/core/job/lifecycle.ts';
import type { JobRequest } from '../../src/core/job/new-job.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import type { ClaimedJob } from '../../src/store/claim/claim.ts';
import { Enqueuer } from '../../src/enqueue/enqueuer.ts';
import { dropOldest, isBusy, type Retention } from '../../src/store/change/prune.ts';
import { type PostgresVersion, testDatabase, type TestDatabase } from './servers/database.ts';
import { claimAny, newWorker, request, settleAs } from './jobs.ts';
import { until } from './until.ts';

const DAY_MS = 24 * 3_600_000;

/** The database of a server that has run for so many days. Making the partitions takes a while. */
export async function agedDatabase(postgres: PostgresVersion, days: number): Promise<TestDatabase> {
  const name = `aged_${days}_${dateOf(0)}`;
  return await testDatabase({
    postgres,
    prepared: {
      name,
      prepare: async (client) => {
        const sql = async (text: string, values: unknown[] = []) =>
          (await client.query(text, values)).rows as never;
        await datedPartitions({ sql }, days);
      },
    },
  });
}

/** Partitions as if the server had run for so many days: one for each, and a week ahead. */
export async function datedPartitions(
  { sql }: Pick<TestDatabase, 'sql'>,
  days: number,
): Promise<void> {
  await sql(`do $$ declare part text; begin
    for part in select t.name || p.suffix
      from longshore.partitioned_tables() t, longshore.partitions(t.name) p
    loop execute format('drop table longshore.%I', part); end loop;
  end $$`);
  for (let day = days; day >= 0; day -= 1) {
    const at = `clock_timestamp() - make_interval(hours => 24 * $2::int)`;
    await sql(`select longshore.ensure_partitions($1, ${at})`, [day === 0 ? 7 : 0, day]);
  }
}

export async function partitionNames({ sql }: TestDatabase, table = 'job'): Promise<string[]> {
  const rows = await sql<{ suffix: string }>(
    'select suffix from longshore.partitions($1) order by upper_id',
    [table],
  );
  return rows.map(({ suffix }) => suffix);
}

/** The date in the name of the partition that holds the ids of that day. */
export function dateOf(daysAgo: number): string {
  const day = new Date(Date.now() - daysAgo * DAY_MS);
  return day.toISOString().slice(0, 10).replaceAll('-', '');
}

/** Stores a job as a server would have done on that day. */
export async function enqueueDaysAgo(
  { db, waker }: TestDatabase,
  daysAgo: number,
  changes: Partial<JobRequest> = {},
): Promise<string> {
  const then: Clock = { ...systemClock, now: () => new Date(Date.now() - daysAgo * DAY_MS) };
  const enqueuer = new Enqueuer(db, waker, then);
  const [answer] = await enqueuer.start([request(changes)]);
  if (!answer) throw new Error('no answer');
  return answer.jobId;
}

/** The same, and a worker has it. Nothing else may be waiting. */
export async function runningSince(
  database: TestDatabase,
  daysAgo: number,
  changes: Partial<JobRequest> = {},
): Promise<ClaimedJob> {
  const id = await enqueueDaysAgo(database, daysAgo, changes);
  const [job] = await claimAny(database, await newWorker(database), 1);
  if (job?.id !== id) throw new Error('another job was in the way');
  return job;
}

/** The same, and it has ended, on the same day unless said otherwise. */
export async function endedSince(
  database: TestDatabase,
  daysAgo: number,
  outcome: Outcome,
  { endedDaysAgo = daysAgo, ...changes }: Partial<JobRequest> & { endedDaysAgo?: number } = {},
): Promise<string> {
  const job = await runningSince(database, daysAgo, { maxAttempts: 1, ...changes });
  await settleAs(database, job, outcome);
  const past = `finished_at = finished_at - make_interval(hours => 24 * $2::int)`;
  await database.sql(`update longshore.done set ${past} where id = $1`, [job.id, endedDaysAgo]);
  return job.id;
}

/** Bulk actions that ended so many days ago. */
export async function endedBulks({ sql }: TestDatabase, daysAgo: readonly number[]): Promise<void> {
  await sql(
    `insert into longshore.bulk (id, tenant, action, filter, how, status, before, matched,
       matched_exactly, next_at, finished_at)
     select longshore.id_floor(at), 'default', 'delete', '{}', '{}', 'finished', at, 0, true, at, at
     from (select now() - make_interval(days => days) as at from unnest($1::int[]) days) d`,
    [daysAgo],
  );
}

/** Tries again while the tables are in use, as the pruner does, but at once. */
export async function dropPatiently(database: TestDatabase, retention: Retention) {
  for (;;) {
    try {
      return await dropOldest(database.db, retention);
    } catch (error) {
      if (!isBusy(error)) throw error;
      await untilItLetsGo(database);
    }
  }
}

/**
 * PostgreSQL reports a failure before it releases the lock; until then, another pruner seems
 * active.
 */
export async function untilItLetsGo({ sql }: TestDatabase): Promise<void> {
  const held = `select from pg_locks l join pg_database d on d.oid = l.database
    where d.datname = current_database() and l.locktype = 'advisory'`;
  await until('no pruner is at it', async () => (await sql(held)).length === 0);
}

/** Everything is copied, and the pruner asks for its lock. Answers with its process. */
export async function untilPrunerAsks({ sql }: TestDatabase): Promise<number> {
  return await until('the pruner asks for its lock', async () => {
    const rows = await sql<{ pid: number }>(
      `select l.pid from pg_locks l join pg_database d on d.oid = l.database
       where d.datname = current_database() and l.mode = 'AccessExclusiveLock' and not l.granted`,
    );
    return rows[0]?.pid;
  });
}

/** Drops until there is nothing left to drop; says what went. */
export async function dropAll(database: TestDatabase, retention: Retention): Promise<string[]> {
  const gone: string[] = [];
  for (;;) {
    const dropped = await dropPatiently(database, retention);
    if (!dropped) return gone;
    gone.push(dropped.partition);
  }
}

/** Where each job is, and all that is known about it: to compare before and after. */
export async function everything({ sql }: TestDatabase): Promise<unknown> {
  const history = ['attempt', 'event', 'log_chunk', 'step', 'stream_chunk'];
  const tables = ['job', 'waiting', 'running', 'done', ...history, 'dedupe'];
  const rows = tables.map(async (table) => {
    const found = await sql<{ row: string }>(`select t::text as row from longshore.${table} t`);
    return [table, found.map(({ row }) => row).sort()];
  });
  return Object.fromEntries((await Promise.all(rows)) as [string, string[]][]);
}
