import { RETRYABLE_STATES } from '../../core/failure/retry.ts';
import { isTerminal, type JobPolicy, type JobState } from '../../core/job/job.ts';
import { shardOfJobId } from '../../core/job/job-id.ts';
import {
  holds,
  judgeUnique,
  replacingDelayMs,
  type Unique,
  type UniqueWhile,
} from '../../core/job/unique.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { findJobs, type HolderJob, pointKeys } from './key-holders.ts';
import { findOrCreateQueue, type Queue } from './queues.ts';

/**
 * Unique jobs share the table of idempotency keys. A row says which job took the key last. The key is
 * never returned: an enqueue that wants it locks the row, reads the state of that job and decides
 * (`core/job/unique.ts`). So two enqueues with one key run one after the other, and claims and
 * settlements do not touch the table.
 *
 * Replacing a job is a race with the claim that may take it. A claim reads the narrow row as it is
 * when it locks it, but the params as they were when its statement began; it could run a job with
 * the params from before. So the narrow row is not updated: it is deleted and inserted again, and a
 * claim that began earlier finds it deleted.
 */
export interface UniqueRow {
  n: number;
  id: string;
  queue: number;
  unique: UniqueKey | null;
  params: string;
  policy: JobPolicy | null;
  rank: number;
  run_at: Date | null;
  delay_ms: number;
  expires_at: Date | null;
}

export interface UniqueKey extends Unique {
  scope: string;
  /** The key as it is stored: of the caller, or made from params. */
  key: string;
  params_sha: string;
  /** Where its row is. Its jobs are there too, unless a concurrency key decides about theirs. */
  shard: number;
  /** Of the new job. */
  queue: Queue;
}

/** Inserts the row or locks it; returns the holder of the key. */
const LOCK_KEYS = statement<{ scope: string; key: string; job_id: string }>(
  'lock_unique_keys',
  `insert into longshore.dedupe as d (shard, scope, key, job_id, params_sha)
   select $1, i.scope, i.key, i.id, decode(i.params_sha, 'hex')
   from json_to_recordset($2::json) as i(scope text, key text, id uuid, params_sha text)
   order by i.scope, i.key
   on conflict (shard, scope, key) do update set job_id = d.job_id
   returning d.scope, d.key, d.job_id`,
);

/**
 * The job keeps its state and its position in the level. A job that is due is not scheduled again, so it is
 * not replaced by one with a later time.
 */
const REPLACE = statement<{ state: JobState }>(
  'replace_waiting',
  `with input as materialized (
    select at, coalesce($6::timestamptz, at + make_interval(secs => $7::float8 / 1000)) as run_at
    from (select clock_timestamp() as at) c
  ),
  gone as (
    delete from longshore.waiting w
    where w.shard = $1 and w.id = $2 and w.queue = $3 and w.claim_no = 0
      and (w.state <> 'queued' or (select run_at <= at from input))
    returning w.*
  ),
  body as (
    update longshore.job set params = $4::json, policy = (policy - 'paramsShape') || $9::jsonb
    where shard = $1 and id = $2 and exists (select 1 from gone)
  )
  insert into longshore.waiting (shard, id, queue, state, rank, seq, blocked, key_limiter, has_permit, run_at,
    expires_at, attempts, max_attempts, claim_no, interruptions, queued_at, fails_unserved,
    waits_for, watched)
  select g.shard, g.id, g.queue, g.state, $5, g.seq, g.blocked, g.key_limiter, g.has_permit,
    case when g.state = 'scheduled' or (g.state = 'created' and i.run_at > i.at) then i.run_at end,
    $8, g.attempts, g.max_attempts, g.claim_no, g.interruptions, g.queued_at, g.fails_unserved,
    g.waits_for, g.watched
  from gone g, input i
  returning state`,
);

export interface Met {
  jobId: string;
  status: JobState;
  replaced: boolean;
}

/**
 * Decides which of these rows are stored, and which job holds the key of each other. No two rows may have
 * the same key. Needs a transaction: the locks last until its end.
 */
export async function meetHolders<Row extends UniqueRow>(
  tx: Queryable,
  rows: readonly Row[],
): Promise<{ fresh: Row[]; met: Map<number, Met> }> {
  const met = new Map<number, Met>();
  const wanted = wantedKeys(rows);
  if (wanted.length === 0) return { fresh: [...rows], met };
  const holderOf = await lockKeys(tx, wanted);
  // What holds its key itself is not stored yet, and need not be looked for.
  const own = new Set(wanted.map(({ id }) => id));
  const jobs = await findJobs(
    tx,
    [...holderOf.values()].filter((id) => !own.has(id)),
  );
  const fresh: Row[] = [];
  for (const row of rows) {
    const holder = row.unique && jobs.get(holderOf.get(nameOf(row.unique)) ?? '');
    const answer = row.unique && holder ? await meet(tx, row, row.unique, holder) : null;
    if (answer) met.set(row.n, answer);
    else fresh.push(row);
  }
  const others = wantedKeys(fresh).filter((one) => holderOf.get(nameOf(one)) !== one.id);
  for (const [shard, here] of byShard(others)) await pointKeys(tx, shard, here);
  return { fresh, met };
}

/**
 * Locks the keys of all these rows in one order, if some are not in the shard of their job: then
 * `meetHolders`, which goes from shard to shard of jobs, would lock them in another order.
 */
export async function lockForeignKeys(tx: Queryable, rows: readonly UniqueRow[]): Promise<void> {
  if (!rows.some(({ unique }) => unique && unique.shard !== unique.queue.shard)) return;
  const first = new Map(wantedKeys(rows.toReversed()).map((one) => [nameOf(one), one]));
  await lockKeys(tx, [...first.values()]);
}

interface WantedKey {
  shard: number;
  id: string;
  scope: string;
  key: string;
  params_sha: string;
}

function wantedKeys(rows: readonly UniqueRow[]): WantedKey[] {
  return rows.flatMap(({ id, unique }) => {
    if (!unique) return [];
    const { shard, scope, key, params_sha } = unique;
    return [{ shard, id, scope, key, params_sha }];
  });
}

/** The holder of each key, by its name. */
async function lockKeys(tx: Queryable, wanted: readonly WantedKey[]): Promise<Map<string, string>> {
  const holders = new Map<string, string>();
  for (const [shard, here] of byShard(wanted)) {
    for (const row of await tx.run(LOCK_KEYS, [shard, JSON.stringify(here)])) {
      holders.set(nameOf(row), row.job_id);
    }
  }
  return holders;
}

function byShard<Key extends { shard: number }>(keys: readonly Key[]): [number, Key[]][] {
  return [...Map.groupBy(keys, ({ shard }) => shard)].sort(([a], [b]) => a - b);
}

/** Null: the holder does not prevent this job. */
async function meet(
  tx: Queryable,
  row: UniqueRow,
  unique: UniqueKey,
  holder: HolderJob,
): Promise<Met | null> {
  const shard = shardOfJobId(holder.id);
  const queue = await queueIn(tx, shard, unique.queue);
  // A job of another version waits in another queue, and its params would be judged by other rules.
  const untouched = holder.untouched && holder.queue === queue;
  const verdict = judgeUnique(unique, { ...holder, untouched });
  if (verdict === 'make') return null;
  if (verdict === 'existing') return { jobId: holder.id, status: holder.state, replaced: false };
  const { params, policy, rank, run_at, delay_ms, expires_at } = row;
  const shape = JSON.stringify({ paramsShape: policy?.paramsShape });
  const delayMs = replacingDelayMs(unique, delay_ms, holder.ageMs);
  const values = [shard, holder.id, queue, params, rank, run_at, delayMs, expires_at, shape];
  const [replaced] = await tx.run(REPLACE, values);
  if (replaced) return { jobId: holder.id, status: replaced.state, replaced: true };
  const moved = (await findJobs(tx, [holder.id])).get(holder.id);
  if (!moved || judgeUnique(unique, { ...moved, untouched: false }) === 'make') return null;
  return { jobId: moved.id, status: moved.state, replaced: false };
}

/** With another concurrency key, the holder is in another shard, where the same queue has another number. */
async function queueIn(tx: Queryable, shard: number, of: Queue): Promise<number> {
  const { queue, key, version, tenant } = of;
  return shard === of.shard ? queue : await findOrCreateQueue(tx, shard, key, version, tenant);
}

interface OwnKey {
  shard: number;
  id: string;
  scope: string;
  key: string;
  params_sha: string;
  while: UniqueWhile;
}

const READ_KEYS = statement<OwnKey>(
  'read_unique_keys',
  `select j.id, j.policy -> 'unique' ->> 'key' as key, case when j.concurrency_key is null then $1::int
     else longshore.key_shard('unique', l.tenant, l.key, j.policy -> 'unique' ->> 'key') end as shard, j.policy -> 'unique' -> 'while' as while,
     'unique' || chr(10) || l.tenant || chr(10) || l.key as scope,
     encode(sha256(convert_to(j.params::text, 'UTF8')), 'hex') as params_sha
   from unnest($2::uuid[]) as wanted(id)
   cross join lateral (
     select * from longshore.job where shard = $1 and id = wanted.id limit 1
   ) j
   cross join lateral (
     select * from longshore.queue where shard = $1 and queue = j.queue limit 1
   ) l
   cross join lateral (
     select state from longshore.done where shard = $1 and id = j.id limit 1
   ) d
   where j.policy ? 'unique' and l.tenant = $3 and d.state = any ('{${RETRYABLE_STATES.join()}}')`,
);

/**
 * Takes the keys of a tenant's failed or cancelled unique jobs before they are retried. Returns those that
 * must not be retried, each with the job that holds its key; of two with one key, the first may. Needs the
 * transaction of the retry.
 */
export async function retakeUniqueKeys(
  tx: Queryable,
  shard: number,
  ids: readonly string[],
  tenant: string,
): Promise<Map<string, string>> {
  const taken = new Map<string, string>();
  const first = new Map<string, OwnKey>();
  for (const own of await tx.run(READ_KEYS, [shard, ids, tenant])) {
    const before = first.get(nameOf(own));
    if (before) taken.set(own.id, before.id);
    else first.set(nameOf(own), own);
  }
  const wanted = [...first.values()];
  if (wanted.length === 0) return taken;
  const holderOf = await lockKeys(tx, wanted);
  const holders = await findJobs(tx, [...holderOf.values()]);
  const free = wanted.filter((own) => {
    const holder = holders.get(holderOf.get(nameOf(own)) ?? '');
    if (!holder || holder.id === own.id || isTerminal(holder.state)) return true;
    if (!holds(own.while, holder)) return true;
    taken.set(own.id, holder.id);
    return false;
  });
  for (const [of, here] of byShard(free)) await pointKeys(tx, of, here);
  return taken;
}

/** Lists in which every key occurs at most once; rows of one key are in consecutive lists. */
export function inRounds<Row extends UniqueRow>(rows: readonly Row[]): Row[][] {
  const rounds: Row[][] = [];
  const seen = new Map<string, number>();
  for (const row of rows) {
    const round = row.unique ? (seen.get(nameOf(row.unique)) ?? 0) : 0;
    if (row.unique) seen.set(nameOf(row.unique), round + 1);
    (rounds[round] ??= []).push(row);
  }
  return rounds;
}

function nameOf({ scope, key }: { scope: string; key: string }): string {
  return `${scope}\n${key}`;
}
