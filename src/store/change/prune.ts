import { randomUUID } from 'node:crypto';
import { sleep } from '../../runtime/deadline.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { freeKeys, type HeldKey } from '../enqueue/key-holders.ts';
import { atCtids, ctidOf, filterOnly } from '../connection/planner.ts';

/**
 * Retention: how long history is kept, counted from the end of a job. Functions of the database do
 * the work (`sql/migrations/0001_schema.sql`), because it creates and drops tables. Any number of
 * processes may call it at once: one does it, the others find nothing to do.
 */
export interface Retention {
  retentionDays: number;
  /** For failed jobs; 0 means for ever. */
  deadLetterDays: number;
}

export interface Dropped {
  /** The date in the name of the partition. */
  partition: string;
  /** Jobs that are still kept, of this partition and older ones. */
  kept: number;
  /** How long other statements had to wait. */
  lockMs: number;
}

/** Runs under its own application name, so that it can be found and cancelled. */
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
 * Drops the oldest expired partition, if there is one. It may copy for minutes, so the signal
 * cancels it; it is one transaction, so then nothing has changed.
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

/** Repeated, because the statement may not have begun yet. */
async function cancelUntil(over: AbortSignal, db: Queryable, name: string): Promise<void> {
  for (; !over.aborted; await sleep(200, over)) {
    await db.run(CANCEL, [name]).catch(() => undefined);
  }
}

/** The tables were in use all the time, for example by a backup. Nothing has changed. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '55P03';
}

const CLEAN_KEPT = statement<{ cleaned: number }>(
  'clean_kept',
  `select longshore.clean_kept($1, $2, $3, coalesce($4::timestamptz, clock_timestamp()))
     as cleaned`,
);

/** Deletes survivors of dropped partitions that have expired since, at most `batch`. */
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
 * Frees idempotency keys whose job is gone. This only saves space: a key that is requested again
 * is taken over anyway, unless it outlives its job. It reads the keys in order, a page at a time; an index by job would cost
 * every enqueue with a key. Jobs within retention always exist, so their keys are skipped. The job of
 * a key may be in another shard, which is asked then.
 */
const TIDY_KEYS = statement<{
  read: number;
  freed: number;
  scope: string;
  key: string;
  elsewhere: HeldKey[];
}>(
  'tidy_keys',
  `with page as materialized (
    select ${ctidOf('d')}, d.scope, d.key, d.job_id from longshore.dedupe d
    where d.shard = $1 and d.scope >= $2 and (d.scope, d.key) > ($2, $3)
    order by d.scope, d.key limit $4
  ),
  old as materialized (
    select p.*, ('x' || right(p.job_id::text, 3))::bit(12)::int & 1023 as of_shard from page p
    where p.job_id < longshore.id_floor(
      coalesce($6::timestamptz, clock_timestamp()) - make_interval(hours => 24 * $5))
  ),
  freed as (
    delete from longshore.dedupe where ${atCtids(`
      select p.ctid from old p
      where p.of_shard = $1
        and (select j.id from longshore.job j where j.shard = $1 and j.id = p.job_id) is null`)} and ${filterOnly('shard = $1')}
    returning 1
  )
  select (select count(*)::int from page) as read, (select count(*)::int from freed) as freed,
    p.scope, p.key, (select coalesce(json_agg(json_build_object('scope', o.scope, 'key', o.key, 'id', o.job_id)), '[]')
      from old o where o.of_shard <> $1) as elsewhere
  from page p order by p.scope desc, p.key desc limit 1`,
);

export interface KeyCursor {
  scope: string;
  key: string;
}
export const FIRST_KEY: KeyCursor = { scope: '', key: '' };

/** Reads the next `page` keys and returns where it stopped; null at the end. */
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
  return { freed: row.freed + (await freeKeys(db, shard, row.elsewhere)), last };
}

const KEEP_KEYS = statement<{ name: string }>(
  'keep_keys',
  `insert into longshore.setting (name, value) values ('idempotency_days', to_jsonb($1::int))
   on conflict (name) do update set value = excluded.value
     where setting.value <> excluded.value
   returning name`,
);

/** How long idempotency keys stay in use after the creation of their job; 0: as long as the job. */
export async function keepKeys(db: Queryable, days: number): Promise<void> {
  await db.run(KEEP_KEYS, [days]);
}

const SPAN_PARTITIONS = statement<{ name: string }>(
  'span_partitions',
  `insert into longshore.setting (name, value)
   values ('partition_days', to_jsonb(ceil(($1::int + 7) / 14.0)::int))
   on conflict (name) do update set value = excluded.value
     where setting.value <> excluded.value
   returning name`,
);

/** A longer retention makes new partitions wider: the kept ones and a week ahead are 14. */
export async function spanPartitions(db: Queryable, retentionDays: number): Promise<void> {
  await db.run(SPAN_PARTITIONS, [retentionDays]);
}
