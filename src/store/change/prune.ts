import { randomUUID } from 'node:crypto';
import { sleep } from '../../runtime/deadline.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { atPlaces, placeOf } from '../connection/planner.ts';

/**
 * Retention: how long history is kept, counted from the end of a job. The work is done by functions
 * in the database (`sql/migrations/0001_schema.sql`), because it makes and drops tables. Any
 * number of processes may ask for it at once: one does it, the others are told that there is
 * nothing to do.
 */
export interface Retention {
  retentionDays: number;
  /** For jobs that failed; 0 means for ever. */
  deadLetterDays: number;
}

export interface Dropped {
  /** The date in its name. */
  partition: string;
  /** How many jobs of it, and of what is older, are still kept. */
  kept: number;
  /** How long others had to wait. */
  lockMs: number;
}

/** It goes by a name of its own while it runs, so that it can be found and ended. */
const DROP_OLDEST = statement<Dropped>(
  'drop_oldest',
  `with named as materialized (
    select set_config('application_name', $4, true), clock_timestamp() as at
  )
  select ltrim(d.dropped, '_p') as partition, d.kept, d.lock_ms as "lockMs"
  from named, longshore.drop_oldest($1, $2, coalesce($3::timestamptz, named.at)) d`,
);

const CANCEL = statement<{ done: boolean }>(
  'cancel_by_name',
  'select pg_cancel_backend(pid) as done from pg_stat_activity where application_name = $1',
);

/**
 * Drops the oldest partition that is over, if there is one. It may copy for minutes, so it is ended
 * when the signal aborts; as it is one transaction, everything is then as it was before.
 */
export async function dropOldest(
  db: Queryable,
  { retentionDays, deadLetterDays }: Retention,
  signal?: AbortSignal,
  now: Date | null = null,
): Promise<Dropped | null> {
  const name = `longshore pruner ${randomUUID()}`;
  const over = new AbortController();
  const cancel = () => void cancelUntil(over.signal, db, name);
  signal?.throwIfAborted();
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    const [dropped] = await db.run(DROP_OLDEST, [retentionDays, deadLetterDays, now, name]);
    return dropped ?? null;
  } finally {
    over.abort();
    signal?.removeEventListener('abort', cancel);
  }
}

/** Again and again, since it may be about to begin. */
async function cancelUntil(over: AbortSignal, db: Queryable, name: string): Promise<void> {
  for (; !over.aborted; await sleep(200, over)) {
    await db.run(CANCEL, [name]).catch(() => undefined);
  }
}

/** The tables were in use all the time, by a backup perhaps. Nothing has changed. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '55P03';
}

const CLEAN_KEPT = statement<{ cleaned: number }>(
  'clean_kept',
  `select longshore.clean_kept($1, $2, $3, coalesce($4::timestamptz, clock_timestamp()))
     as cleaned`,
);

/** Deletes survivors of dropped partitions whose own time has come, at most `batch` of them. */
export async function cleanKept(
  db: Queryable,
  { retentionDays, deadLetterDays }: Retention,
  batch: number,
  now: Date | null = null,
): Promise<number> {
  const [row] = await db.run(CLEAN_KEPT, [retentionDays, deadLetterDays, batch, now]);
  return row?.cleaned ?? 0;
}

/**
 * Frees idempotency keys whose job is gone, for room only: a key that is asked for again is taken
 * over anyway. It walks through the keys in their order, a page at a time, since no index tells them
 * by job, and one that did would cost every keyed enqueue. Jobs within retention are there for sure.
 */
const TIDY_KEYS = statement<{ read: number; freed: number; scope: string; key: string }>(
  'tidy_keys',
  `with page as materialized (
    select ${placeOf('d')}, d.scope, d.key, d.job_id from longshore.dedupe d
    where d.shard = $1 and d.scope >= $2 and (d.scope, d.key) > ($2, $3)
    order by d.scope, d.key limit $4
  ),
  freed as (
    delete from longshore.dedupe where ${atPlaces(`
      select p.ctid from page p
      where p.job_id < longshore.id_floor(
          coalesce($6::timestamptz, clock_timestamp()) - make_interval(hours => 24 * $5))
        and (select j.id from longshore.job j where j.shard = $1 and j.id = p.job_id) is null`)}
    returning 1
  )
  select (select count(*)::int from page) as read, (select count(*)::int from freed) as freed,
    p.scope, p.key
  from page p order by p.scope desc, p.key desc limit 1`,
);

export interface KeyCursor {
  scope: string;
  key: string;
}
export const FIRST_KEY: KeyCursor = { scope: '', key: '' };

/** Looks at the next `page` keys and says where it stopped; null at the end. */
export async function tidyKeys(
  db: Queryable,
  shard: number,
  after: KeyCursor,
  page: number,
  retentionDays: number,
  now: Date | null = null,
): Promise<{ freed: number; last: KeyCursor | null }> {
  const values = [shard, after.scope, after.key, page, retentionDays, now];
  const [row] = await db.run(TIDY_KEYS, values);
  if (!row) return { freed: 0, last: null };
  const last = row.read === page ? { scope: row.scope, key: row.key } : null;
  return { freed: row.freed, last };
}

const SPAN_PARTITIONS = statement<{ name: string }>(
  'span_partitions',
  `insert into longshore.setting (name, value)
   values ('partition_days', to_jsonb(ceil(($1::int + 7) / 14.0)::int))
   on conflict (name) do update set value = excluded.value
     where setting.value <> excluded.value
   returning name`,
);

/** A longer retention makes new partitions wider: what is kept and a week ahead are 14 of them. */
export async function spanPartitions(db: Queryable, retentionDays: number): Promise<void> {
  await db.run(SPAN_PARTITIONS, [retentionDays]);
}
