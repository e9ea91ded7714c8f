import { isTerminal, type JobState } from '../../core/job/job.ts';
import { shardOfJobId } from '../../core/job/job-id.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import { type EnqueuedJob, type Entry, type EntryRow, keyShardOf, toRow } from './enqueue-entry.ts';
import { resolveSoon } from '../edges/resolve-ended.ts';
import { addEdges, watchParents } from '../edges/watch-parents.ts';
import { isPlain, storePlain } from './enqueue-plain.ts';
import { permit, COUNT_BLOCKED, keyLimiter, blocks } from '../limits/limiters.ts';
import { findRepeats, pointKeys, takeKeys } from './key-holders.ts';
import { withPartitions } from '../connection/partitions.ts';
import { inRounds, lockForeignKeys, meetHolders } from './unique-jobs.ts';
import { moves, counters } from '../counters/counter-moves.ts';

/**
 * Stores new jobs. One statement inserts the body into `job` and the narrow row into `waiting`. A job
 * with an idempotency key first inserts its row in `dedupe`; if another transaction has inserted it,
 * the statement waits for that transaction and stores nothing for this job. A second statement, whose
 * newer snapshot sees it, looks up the job that holds the key.
 *
 * The database's clock decides whether a job is due. A job with a limited concurrency key is blocked
 * first and then gets its permit (`store/limits/limiters.ts`). Plain jobs have a shorter statement
 * (`store/enqueue/enqueue-plain.ts`).
 */

const ENQUEUE = statement<{ n: number; state: JobState; limiter: string | null }>(
  'enqueue',
  `with clock as materialized (select clock_timestamp() as at),
  input as materialized (
    select i.*, c.at,
      case when i.waits_for is not null then 'suspended'
           when i.hold then 'created'
           when coalesce(i.run_at, c.at + make_interval(secs => i.delay_ms / 1000.0)) > c.at
             then 'scheduled'
           else 'queued' end::longshore.job_state as state,
      ${keyLimiter('i.queue', 'i.concurrency_key')} as key_limiter
    from clock c, json_to_recordset($2::json) as i(
      n int, id uuid, queue int, params text, tags text[], policy jsonb, scope text,
      idempotency_key text, params_sha text, rank int, max_attempts int, hold boolean,
      run_at timestamptz, delay_ms float8, schedule_id uuid,
      scheduled_for timestamptz, fails_unserved boolean, expires_at timestamptz,
      concurrency_key text, traceparent text, waits_for text, watched boolean)
  ),
  taken as (
    insert into longshore.dedupe (shard, scope, key, job_id, params_sha)
    select $1, scope, idempotency_key, id, decode(params_sha, 'hex')
    from input where scope is not null order by scope, idempotency_key
    on conflict do nothing
    returning job_id
  ),
  fresh as materialized (
    select i.*, (extract(epoch from i.at) * 1000000)::bigint + i.n as place, ${blocks('i')} as blocks
    from input i
    where i.scope is null or i.id in (select job_id from taken)
  ),
  body as (
    insert into longshore.job
      (shard, id, queue, params, tags, idempotency_key, policy, schedule_id, scheduled_for, created_at,
       concurrency_key, traceparent)
    select $1, id, queue, params::json, tags, idempotency_key, policy, schedule_id, scheduled_for, at,
      concurrency_key, traceparent
    from fresh
  ),
  entered as (
    insert into longshore.waiting
      (shard, id, queue, state, rank, key_limiter, seq, blocked, run_at, expires_at, max_attempts, queued_at,
       fails_unserved, waits_for, watched)
    select $1, id, queue, state, rank, key_limiter,
      case when state = 'queued' and not blocks then place end,
      case when state = 'queued' and blocks then place end,
      case when state = 'scheduled' or (hold and (run_at is not null or delay_ms > 0))
        then coalesce(run_at, at + make_interval(secs => delay_ms / 1000.0)) end,
      expires_at, max_attempts,
      case when state = 'queued' then at end,
      fails_unserved, waits_for, watched
    from fresh
    returning key_limiter, queue, blocked
  ),
  ${COUNT_BLOCKED},
  ${counters(moves('null', 'state', 'fresh'))}
  select n, state, null as limiter from fresh
  union all
  select null, null, limiter::text from counted`,
);

/**
 * Stores all entries or none; returns results in their order. Entries of one shard share a statement.
 * The statement of plain jobs can also send the hint to workers (`store/connection/wake.ts`), which saves a
 * commit.
 */
export async function enqueue(
  db: Db,
  entries: readonly Entry[],
  hint: string | null = null,
): Promise<EnqueuedJob[]> {
  return await withPartitions(db, async () => {
    if (isPlain(entries)) return await storePlain(db, entries, hint);
    return await storeGeneral(
      db,
      entries.map((entry) => withKey(db, entry)),
    );
  });
}

/**
 * A plain job whose id follows from its request. It always takes the short statement, whatever the
 * other jobs of its request are: the SDK sends jobs together and, after a refusal, one by one.
 */
function isNamed(entry: Entry): boolean {
  return entry.job.requestId !== null && isPlain([entry]);
}

/** Only the short statement knows request ids; for other jobs they are idempotency keys. */
function withKey(db: Db, entry: Entry): Entry {
  const { job, queue } = entry;
  if (job.requestId === null || job.idempotencyKey !== null || isNamed(entry)) return entry;
  const id = db.ids.next(queue.shard);
  return { ...entry, job: { ...job, id, requestId: null, idempotencyKey: job.requestId } };
}

async function storeGeneral(db: Db, entries: readonly Entry[]): Promise<EnqueuedJob[]> {
  const shards = new Set(entries.flatMap((entry) => [entry.queue.shard, keyShardOf(entry)]));
  const keyed = entries.some((entry) => entry.job.idempotencyKey !== null);
  // One statement is atomic by itself; a conflict among many must be able to undo the others.
  const needsMore = ({ job }: Entry) => job.unique !== null || job.after !== null;
  const single = shards.size === 1 && !entries.some((entry) => needsMore(entry) || isNamed(entry));
  if (single && (entries.length === 1 || !keyed)) return await store(db, entries);
  const { answers, ended } = await db.transaction(async (tx) => await storeAll(tx, entries));
  for (const shard of ended) await resolveSoon(db, shard);
  return answers;
}

/** `ended`: shards of parents that have ended already. */
async function storeAll(
  tx: Queryable,
  entries: readonly Entry[],
): Promise<{ answers: EnqueuedJob[]; ended: Set<number> }> {
  const followers = entries.flatMap(({ job: { id, tenant, after } }, index) =>
    after ? [{ index, id, tenant, after }] : [],
  );
  const parents = await watchParents(tx, followers);
  const answers = await store(tx, entries, await storeNamed(tx, entries));
  await addEdges(
    tx,
    followers.filter(({ index }) => answers[index]?.created),
    parents,
  );
  const ended = [...parents].filter(([, state]) => isTerminal(state));
  return { answers, ended: new Set(ended.map(([id]) => shardOfJobId(id))) };
}

/** Answers for the named entries only, each at its index. */
async function storeNamed(tx: Queryable, entries: readonly Entry[]): Promise<EnqueuedJob[]> {
  const answers: EnqueuedJob[] = [];
  const named = [...entries.entries()].filter(([, entry]) => isNamed(entry));
  for (const group of Map.groupBy(named, ([, { queue }]) => queue.shard).values()) {
    const stored = await storePlain(
      tx,
      group.map(([, entry]) => entry),
      null,
    );
    for (const [at, answer] of stored.entries()) answers[group[at]?.[0] ?? 0] = answer;
  }
  return answers;
}

/** The same inside a transaction of the caller. */
export async function enqueueWithin(
  tx: Queryable,
  entries: readonly Entry[],
): Promise<EnqueuedJob[]> {
  return (await storeAll(tx, entries)).answers;
}

/** Stores the entries that have no answer yet. */
async function store(
  db: Queryable,
  entries: readonly Entry[],
  answers: EnqueuedJob[] = [],
): Promise<EnqueuedJob[]> {
  // Usually storing a job takes its key. A key that is at home elsewhere is taken before; and so are
  // all of them if any job is unique, because locks of one kind come before those of the other.
  const early = entries.some(
    (entry) => keyShardOf(entry) !== entry.queue.shard || entry.job.unique,
  );
  let pending = entries.map(toRow).filter(({ n }) => !answers[n]);
  for (let tries = 0; pending.length > 0; tries += 1) {
    if (tries === 5) throw new Error('an idempotency key kept changing hands');
    const ready = early ? await takeKeys(db, pending) : pending;
    if (early) await lockForeignKeys(db, ready);
    for (const [shard, rows] of byShard(entries, ready)) {
      for (const round of inRounds(rows)) {
        const fresh = early ? await meet(db, round, answers) : round;
        if (fresh.length === 0) continue;
        const made = await db.run(ENQUEUE, [shard, JSON.stringify(fresh)]);
        const limiters = made.flatMap(({ limiter }) => limiter ?? []);
        await permit(db, shard, limiters);
        for (const { n, state } of made.filter(({ limiter }) => limiter === null)) {
          answers[n] = { jobId: entries[n]?.job.id ?? '', status: state, created: true };
        }
      }
    }
    const repeats = pending.filter((row) => !answers[row.n]);
    if (repeats.length === 0) break;
    const { holders, again } = await findRepeats(db, repeats);
    for (const [n, { id, state }] of holders) {
      answers[n] = { jobId: id, status: state, created: false };
    }
    pending = again;
  }
  return answers;
}

/** Answers for unique jobs whose key another job holds; returns the rows to store. */
async function meet(
  db: Queryable,
  rows: readonly EntryRow[],
  answers: EnqueuedJob[],
): Promise<EntryRow[]> {
  const { fresh, met } = await meetHolders(db, rows);
  for (const row of rows) {
    const found = met.get(row.n);
    if (!found) continue;
    const { jobId, status, replaced } = found;
    answers[row.n] = { jobId, status, created: false, ...(replaced && { replaced }) };
    const { scope, idempotency_key: key, params_sha } = row;
    if (scope === null || key === null) continue;
    // The same request once more shall be answered with the same job, however that is by then.
    await pointKeys(db, row.key_shard, [{ scope, key, id: jobId, params_sha }]);
  }
  return fresh.map((row) => ({ ...row, scope: null }));
}

function byShard(entries: readonly Entry[], rows: readonly EntryRow[]): [number, EntryRow[]][] {
  const groups = Map.groupBy(rows, ({ n }) => entries[n]?.queue.shard ?? 0);
  return [...groups].sort(([a], [b]) => a - b);
}
