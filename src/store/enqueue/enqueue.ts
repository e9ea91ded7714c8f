import type { JobState } from '../../core/job/job.ts';
import { attemptsOf } from '../claim/claim.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import { type EnqueuedJob, type Entry, type EntryRow, keyShardOf, toRow } from './enqueue-entry.ts';
import { isPlain, storePlain } from './enqueue-plain.ts';
import { permit, COUNT_BLOCKED, keyLimiter, blocks } from '../limits/limiters.ts';
import { mayRunAtOnce } from './direct-start.ts';
import { findRepeats, pointKeys, takeKeys } from './held-keys.ts';
import { withPartitions } from '../connection/partitions.ts';
import { inRounds, meetHolders } from './unique-jobs.ts';
import { moves, counters } from '../counters/counter-moves.ts';

/**
 * Storing new jobs. The body goes into `job`, the narrow row into `waiting`, in one statement: both
 * or neither. A job with an idempotency key first takes its row in `dedupe`; if somebody holds it,
 * the statement waits for that transaction, then stores nothing for this job, and the holder's job
 * is looked up by a second statement, whose newer snapshot is sure to see it.
 *
 * Whether a job is due at once is decided here, by the database's clock. A job that a worker in this
 * process has a free slot for is stored already running: queued and claimed in one commit. A job
 * with a concurrency key that is limited is blocked first and then permitted (`store/limits/limiters.ts`). Jobs
 * that say nothing special go a shorter way (`store/enqueue/enqueue-plain.ts`).
 */

const ENQUEUE = statement<{ n: number; state: JobState; limiter: string | null }>(
  'enqueue',
  `with clock as materialized (select clock_timestamp() as at),
  input as materialized (
    select i.*, c.at,
      case when i.hold then 'created'
           when coalesce(i.run_at, c.at + make_interval(secs => i.delay_ms / 1000.0)) > c.at
             then 'scheduled'
           else 'queued' end::longshore.job_state as state,
      ${keyLimiter('i.queue', 'i.concurrency_key')} as key_limiter
    from clock c, json_to_recordset($2::json) as i(
      n int, id uuid, queue int, params text, tags text[], policy jsonb, scope text,
      idempotency_key text, params_sha text, rank int, max_attempts int, hold boolean,
      run_at timestamptz, delay_ms float8, handed_to uuid, schedule_id uuid,
      scheduled_for timestamptz, fails_unhandled boolean, expires_at timestamptz,
      concurrency_key text, traceparent text)
  ),
  taken as (
    insert into longshore.dedupe (shard, scope, key, job_id, params_sha)
    select $1, scope, idempotency_key, id, decode(params_sha, 'hex')
    from input where scope is not null order by scope, idempotency_key
    on conflict do nothing
    returning job_id
  ),
  fresh as materialized (
    select i.*, i.handed_to is not null and i.state = 'queued' and i.key_limiter is null
        and ${mayRunAtOnce('i.queue', 'i.handed_to')} as handed,
      (extract(epoch from i.at) * 1000000)::bigint + i.n as place, ${blocks('i')} as blocks
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
       fails_unhandled)
    select $1, id, queue, state, rank, key_limiter,
      case when state = 'queued' and not blocks then place end,
      case when state = 'queued' and blocks then place end,
      case when state = 'scheduled' or (hold and (run_at is not null or delay_ms > 0))
        then coalesce(run_at, at + make_interval(secs => delay_ms / 1000.0)) end,
      expires_at, max_attempts,
      case when state = 'queued' then at end,
      fails_unhandled
    from fresh where not handed
    returning key_limiter, queue, blocked
  ),
  ${COUNT_BLOCKED},
  slot as (
    insert into longshore.running (shard, id, queue, state, rank, expires_at, attempts, max_attempts,
      claim_no, interruptions, queued_at, worker, started_at, fails_unhandled)
    select $1, id, queue, 'running', rank, expires_at, 1, ${attemptsOf('fresh')}, 1, 0, at,
      handed_to, at, fails_unhandled
    from fresh where handed
  ),
  ${counters(moves('null', "case when handed then 'running' else state end", 'fresh'))}
  select n, case when handed then 'running' else state end::longshore.job_state as state,
    null as limiter
  from fresh
  union all
  select null, null, limiter::text from counted`,
);

/**
 * Stores all entries or none; answers in their order. Entries of one shard share a statement. Plain
 * ones can take the hint to workers (`store/connection/wake.ts`) along in it, which saves a commit of its own.
 */
export async function enqueue(
  db: Db,
  entries: readonly Entry[],
  hint: string | null = null,
): Promise<EnqueuedJob[]> {
  return await withPartitions(db, async () => {
    if (isPlain(entries)) return await storePlain(db, entries, hint);
    const shards = new Set(entries.flatMap((entry) => [entry.queue.shard, keyShardOf(entry)]));
    const keyed = entries.some((entry) => entry.job.idempotencyKey !== null);
    // One statement is atomic by itself; a conflict among many must be able to undo the others.
    const single = shards.size === 1 && !entries.some(({ job }) => job.unique);
    if (single && (entries.length === 1 || !keyed)) return await store(db, entries);
    return await db.transaction(async (tx) => await store(tx, entries));
  });
}

/** The same inside the caller's own transaction, which must be able to undo it. */
export async function enqueueWithin(
  tx: Queryable,
  entries: readonly Entry[],
): Promise<EnqueuedJob[]> {
  return await store(tx, entries);
}

async function store(db: Queryable, entries: readonly Entry[]): Promise<EnqueuedJob[]> {
  const answers: EnqueuedJob[] = [];
  // Usually storing a job takes its key. A key that is at home elsewhere is taken before; and so are
  // all of them if any job is unique, because locks of one kind come before those of the other.
  const early = entries.some(
    (entry) => keyShardOf(entry) !== entry.queue.shard || entry.job.unique,
  );
  let pending = entries.map(toRow);
  for (let tries = 0; pending.length > 0; tries += 1) {
    if (tries === 5) throw new Error('an idempotency key kept changing hands');
    const ready = early ? await takeKeys(db, pending) : pending;
    for (const [shard, rows] of byShard(entries, ready)) {
      for (const round of inRounds(rows)) {
        const fresh = early ? await meet(db, shard, round, answers) : round;
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

/** Answers for unique jobs that another one stands for, keys and all; gives back those to store. */
async function meet(
  db: Queryable,
  shard: number,
  rows: readonly EntryRow[],
  answers: EnqueuedJob[],
): Promise<EntryRow[]> {
  const { fresh, met } = await meetHolders(db, shard, rows);
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
