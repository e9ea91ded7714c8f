import { createHash } from 'node:crypto';
import { shardOfJobId } from '../../core/job/job-id.ts';
import type { UniqueHolder } from '../../core/job/unique.ts';
import { isRecord } from '../../core/values/record.ts';
import { type Queryable, statement } from '../connection/db.ts';

/**
 * Which job holds an idempotency key. Usually the statement that stores the job takes the key
 * (`store/enqueue/enqueue.ts`), in the same shard. A key whose scope is the tenant has its own shard and is
 * taken first, in the same transaction.
 *
 * A batch takes its keys in the order of shard, scope and key, so that two batches over
 * the same keys never deadlock.
 */
export interface KeyedRow {
  n: number;
  id: string;
  /** Null when there is no key to take. */
  scope: string | null;
  idempotency_key: string | null;
  params_sha: string | null;
  key_shard: number;
  /** A repeat may have other params. */
  any_params: boolean;
}

/** The job that holds a key, as it is now. */
export interface HolderJob extends UniqueHolder {
  id: string;
  queue: number;
}

export class IdempotencyConflict extends Error {
  override name = 'IdempotencyConflict';
  readonly index: number;

  /** `deletedJob`: the job of the key, when it no longer exists but its key is still in use. */
  constructor(index: number, deletedJob: string | null = null) {
    super(
      deletedJob === null
        ? 'this key was used for a job with other params'
        : `this key was used for job ${deletedJob}, which is deleted`,
    );
    this.index = index;
  }
}

const TAKE_KEYS = statement<{ job_id: string }>(
  'take_keys',
  `insert into longshore.dedupe (shard, scope, key, job_id, params_sha)
   select $1, i.scope, i.idempotency_key, i.id, decode(i.params_sha, 'hex')
   from json_to_recordset($2::json) as i(
     id uuid, scope text, idempotency_key text, params_sha text)
   order by i.scope, i.idempotency_key
   on conflict do nothing
   returning job_id`,
);

const FIND_HOLDERS = statement<{ n: number; job_id: string; params_sha: string }>(
  'find_holders',
  `select i.n, d.job_id, encode(d.params_sha, 'hex') as params_sha
   from json_to_recordset($2::json) as i(n int, scope text, idempotency_key text)
   cross join lateral (
     select * from longshore.dedupe d
     where d.shard = $1 and d.scope = i.scope and d.key = i.idempotency_key limit 1
   ) d`,
);

const FIND_JOBS = statement<HolderJob>(
  'find_holder_jobs',
  `select i.id, n.state, n.queue, n.untouched, b.age_ms as "ageMs"
   from unnest($2::uuid[]) as i(id)
   cross join lateral (
     select state, queue, claim_no = 0 as untouched from longshore.waiting
     where shard = $1 and id = i.id
     union all
     select state, queue, false from longshore.running where shard = $1 and id = i.id
     union all
     select state, queue, false from longshore.done where shard = $1 and id = i.id
     limit 1
   ) n
   cross join lateral (
     select (extract(epoch from clock_timestamp() - created_at) * 1000)::float8 as age_ms
     from longshore.job where shard = $1 and id = i.id limit 1
   ) b`,
);

/** These keys belong to the given job from now on. */
const POINT_KEYS = statement<{ job_id: string }>(
  'point_keys',
  `insert into longshore.dedupe (shard, scope, key, job_id, params_sha)
   select $1, i.scope, i.key, i.id, decode(i.params_sha, 'hex')
   from json_to_recordset($2::json) as i(scope text, key text, id uuid, params_sha text)
   order by i.scope, i.key
   on conflict (shard, scope, key) do update set job_id = excluded.job_id
   returning job_id`,
);

/** Only needed for a key whose job is gone. */
const OUTLIVES_JOB = statement<{ outlives: boolean }>(
  'outlives_job',
  'select longshore.outlives_job($1) as outlives',
);

const FREE_KEY = statement<{ job_id: string }>(
  'free_key',
  `delete from longshore.dedupe d
   where d.shard = $1 and d.scope = $2 and d.key = $3 and d.job_id = $4
   returning job_id`,
);

/** Takes the keys of these rows; returns the rows that hold theirs now or need none. */
export async function takeKeys<Row extends KeyedRow>(
  db: Queryable,
  rows: readonly Row[],
): Promise<Row[]> {
  const taken = new Set<string>();
  for (const [shard, keyed] of byKeyShard(rows.filter(({ scope }) => scope !== null))) {
    for (const { job_id } of await db.run(TAKE_KEYS, [shard, JSON.stringify(keyed)])) {
      taken.add(job_id);
    }
  }
  return rows.filter(({ id, scope }) => scope === null || taken.has(id));
}

export interface Repeats<Row> {
  /** The job that holds the key of row number n. */
  holders: Map<number, HolderJob>;
  /** Rows whose holder no longer exists: their keys are free again. */
  again: Row[];
}

/** Looks up the holders of the keys that these rows could not take. */
export async function findRepeats<Row extends KeyedRow>(
  db: Queryable,
  rows: readonly Row[],
): Promise<Repeats<Row>> {
  const held = new Map<number, { job_id: string; params_sha: string }>();
  for (const [shard, keyed] of byKeyShard(rows)) {
    const found = await db.run(FIND_HOLDERS, [shard, JSON.stringify(keyed)]);
    for (const { n, ...holder } of found) held.set(n, holder);
  }
  const jobs = await findJobs(
    db,
    [...held.values()].map((holder) => holder.job_id),
  );
  const repeats: Repeats<Row> = { holders: new Map(), again: [] };
  for (const row of rows) {
    const holder = held.get(row.n);
    const job = holder && jobs.get(holder.job_id);
    if (!holder || !job) {
      const { key_shard: shard, scope, idempotency_key: key } = row;
      if (holder) {
        const [found] = await db.run(OUTLIVES_JOB, [holder.job_id]);
        if (found?.outlives) throw new IdempotencyConflict(row.n, holder.job_id);
        await db.run(FREE_KEY, [shard, scope, key, holder.job_id]);
      }
      repeats.again.push(row);
    } else if (!row.any_params && holder.params_sha !== row.params_sha) {
      throw new IdempotencyConflict(row.n);
    } else {
      repeats.holders.set(row.n, job);
    }
  }
  return repeats;
}

export interface PointedKey {
  scope: string;
  key: string;
  id: string;
  params_sha: string | null;
}

export async function pointKeys(
  db: Queryable,
  shard: number,
  keys: readonly PointedKey[],
): Promise<void> {
  if (keys.length > 0) await db.run(POINT_KEYS, [shard, JSON.stringify(keys)]);
}

export interface HeldKey {
  scope: string;
  key: string;
  id: string;
}

/** Frees those of these keys whose job is gone; returns how many. */
export async function freeKeys(
  db: Queryable,
  shard: number,
  held: readonly HeldKey[],
): Promise<number> {
  if (held.length === 0) return 0;
  const jobs = await findJobs(
    db,
    held.map(({ id }) => id),
  );
  let freed = 0;
  for (const { scope, key, id } of held) {
    if (!jobs.has(id)) freed += (await db.run(FREE_KEY, [shard, scope, key, id])).length;
  }
  return freed;
}

/**
 * The state of these jobs, without those that no longer exist. While retention replaces a partition, one
 * snapshot may see a kept job in neither table, so a missing job is looked up twice.
 */
export async function findJobs(
  db: Queryable,
  ids: readonly string[],
): Promise<Map<string, HolderJob>> {
  const found = new Map<string, HolderJob>();
  for (let looks = 0; looks < 2; looks += 1) {
    const missing = [...new Set(ids)].filter((id) => !found.has(id));
    for (const shard of new Set(missing.map(shardOfJobId))) {
      const here = missing.filter((id) => shardOfJobId(id) === shard);
      for (const job of await db.run(FIND_JOBS, [shard, here])) found.set(job.id, job);
    }
  }
  return found;
}

/** A hash of the JSON value; the order of keys makes no difference. */
export function canonicalSha(json: string): string {
  const canonical = JSON.stringify(JSON.parse(json), (_key, value: unknown) =>
    isRecord(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return createHash('sha256').update(canonical).digest('hex');
}

function byKeyShard<Row extends KeyedRow>(rows: readonly Row[]): [number, Row[]][] {
  const groups = Map.groupBy(rows, ({ key_shard }) => key_shard);
  return [...groups].sort(([a], [b]) => a - b);
}
