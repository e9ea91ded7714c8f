import type { JobState } from '../core/job.ts';
import type { NewJob } from '../core/new-job.ts';
import { arrayText, type Db, type Queryable, statement } from './db.ts';
import { admit, COUNT_PARKED, keyGate, parks } from './gates.ts';
import { mayRunAtOnce } from './hand-over.ts';
import { canonicalSha, findRepeats, pointKeys, takeKeys } from './held-keys.ts';
import type { Lane } from './lanes.ts';
import { withPartitions } from './partitions.ts';
import { inRounds, meetHolders, type UniqueKey } from './unique-jobs.ts';
import { moves, tally } from './tally-moves.ts';
import { WAKE_CHANNEL } from './wake.ts';

/**
 * Storing new jobs. The body goes into `job`, the narrow row into `waiting`, in one statement: both
 * or neither. A job with an idempotency key first takes its row in `dedupe`; if somebody holds it,
 * the statement waits for that transaction, then stores nothing for this job, and the holder's job
 * is looked up by a second statement, whose newer snapshot is sure to see it.
 *
 * Whether a job is due at once is decided here, by the database's clock. A job that a worker in this
 * process has a free slot for is stored already running: queued and claimed in one commit. A job
 * with a concurrency key that is limited is parked first and then admitted (`store/gates.ts`).
 */

/** A job, where it goes, and the place in the caller's list that the answer belongs to. */
export interface Entry {
  job: NewJob;
  lane: Lane;
  /** The worker instance in this process that has a free slot for it, if one has (`hand-over`). */
  handedTo?: string | null;
  /** The schedule that made it, and for which of its slots. */
  schedule?: { id: string; slotAt: Date } | null;
  /** Where its idempotency key is kept, if not where the job is. */
  keyShard?: number;
  /** Its params as they are to be stored, if that is not what they are. */
  sealedParams?: string;
}

export interface EnqueuedJob {
  jobId: string;
  status: JobState;
  /** False when an earlier request with the same key had made it. */
  created: boolean;
  /** It was made earlier and is now as this request wants it. */
  replaced?: true;
}

const ENQUEUE = statement<{ n: number; state: JobState; gate: string | null }>(
  'enqueue',
  `with clock as materialized (select clock_timestamp() as at),
  input as materialized (
    select i.*, c.at,
      case when i.hold then 'created'
           when coalesce(i.run_at, c.at + make_interval(secs => i.delay_ms / 1000.0)) > c.at
             then 'scheduled'
           else 'queued' end::longshore.job_state as state,
      ${keyGate('i.lane', 'i.concurrency_key')} as kgate
    from clock c, json_to_recordset($2::json) as i(
      n int, id uuid, lane int, params text, tags text[], policy jsonb, scope text,
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
    select i.*, i.handed_to is not null and i.state = 'queued' and i.kgate is null
        and ${mayRunAtOnce('i.lane', 'i.handed_to')} as handed,
      (extract(epoch from i.at) * 1000000)::bigint + i.n as place, ${parks('i')} as parks
    from input i
    where i.scope is null or i.id in (select job_id from taken)
  ),
  body as (
    insert into longshore.job
      (shard, id, lane, params, tags, idempotency_key, policy, schedule_id, scheduled_for, created_at,
       concurrency_key, traceparent)
    select $1, id, lane, params::json, tags, idempotency_key, policy, schedule_id, scheduled_for, at,
      concurrency_key, traceparent
    from fresh
  ),
  entered as (
    insert into longshore.waiting
      (shard, id, lane, state, rank, kgate, seq, parked, run_at, expires_at, max_attempts, queued_at,
       fails_unhandled)
    select $1, id, lane, state, rank, kgate,
      case when state = 'queued' and not parks then place end,
      case when state = 'queued' and parks then place end,
      case when state = 'scheduled' or (hold and (run_at is not null or delay_ms > 0))
        then coalesce(run_at, at + make_interval(secs => delay_ms / 1000.0)) end,
      expires_at, max_attempts,
      case when state = 'queued' then at end,
      fails_unhandled
    from fresh where not handed
    returning kgate, lane, parked
  ),
  ${COUNT_PARKED},
  slot as (
    insert into longshore.running (shard, id, lane, state, rank, expires_at, attempts, max_attempts,
      claim_no, interruptions, queued_at, worker, started_at)
    select $1, id, lane, 'running', rank, expires_at, 1, max_attempts, 1, 0, at, handed_to, at
    from fresh where handed
  ),
  ${tally(moves('null', "case when handed then 'running' else state end", 'fresh'))}
  select n, case when handed then 'running' else state end::longshore.job_state as state,
    null as gate
  from fresh
  union all
  select null, null, gate::text from counted`,
);

/**
 * The common case, which must be cheap: jobs that may run at once and say nothing special. The same
 * as above without what they do not need; params come as one JSON array and are only cut apart.
 */
const ENQUEUE_PLAIN = statement<{ n: number }>(
  'enqueue_plain',
  `with input as materialized (
    select i.*, clock_timestamp() as at,
      i.handed and ${mayRunAtOnce('i.lane', '$7')} as running
    from rows from (
      unnest($2::uuid[]), unnest($3::int[]), unnest($4::int[]), unnest($5::int[]),
      unnest($6::bool[]), json_array_elements($8::json), unnest($10::text[])
    ) with ordinality as i(id, lane, rank, max_attempts, handed, params, traceparent, n)
  ),
  body as (
    insert into longshore.job (shard, id, lane, params, created_at, traceparent)
    select $1, id, lane, params, at, traceparent from input
  ),
  line as (
    insert into longshore.waiting (shard, id, lane, state, rank, seq, max_attempts, queued_at)
    select $1, id, lane, 'queued', rank, (extract(epoch from at) * 1000000)::bigint + n,
      max_attempts, at
    from input where not running
  ),
  slot as (
    insert into longshore.running (shard, id, lane, state, rank, attempts, max_attempts, claim_no,
      interruptions, queued_at, worker, started_at)
    select $1, id, lane, 'running', rank, 1, max_attempts, 1, 0, at, $7, at
    from input where running
  ),
  ${tally(moves('null', "case when running then 'running' else 'queued' end", 'input'))}
  select n::int - 1 as n from input where running
  union all
  select -1 where $9::text is not null and pg_notify('${WAKE_CHANNEL}', $9::text)::text is not null`,
);

/**
 * Stores all entries or none; answers in their order. Entries of one shard share a statement. Plain
 * ones can take the hint to workers (`store/wake.ts`) along in it, which saves a commit of its own.
 */
export async function enqueue(
  db: Db,
  entries: readonly Entry[],
  hint: string | null = null,
): Promise<EnqueuedJob[]> {
  return await withPartitions(db, async () => {
    if (isPlain(entries)) return await storePlain(db, entries, hint);
    const shards = new Set(entries.flatMap((entry) => [entry.lane.shard, keyShardOf(entry)]));
    const keyed = entries.some((entry) => entry.job.idempotencyKey !== null);
    // One statement is atomic by itself; a conflict among many must be able to undo the others.
    const single = shards.size === 1 && !entries.some(({ job }) => job.unique);
    if (single && (entries.length === 1 || !keyed)) return await store(db, entries);
    return await db.transaction(async (tx) => await store(tx, entries));
  });
}

export function isPlain(entries: readonly Entry[]): boolean {
  const shard = entries[0]?.lane.shard;
  return entries.every(
    ({ job, lane, schedule }) =>
      lane.shard === shard &&
      !schedule &&
      job.idempotencyKey === null &&
      job.concurrencyKey === null &&
      job.tags === null &&
      job.policy === null &&
      !job.failsUnhandled &&
      job.unique === null &&
      job.expiresAt === null &&
      job.runAt === null &&
      !job.delayMs &&
      !job.hold,
  );
}

/** Everything is stored as queued, but for the jobs that the answer names: these run already. */
async function storePlain(
  db: Queryable,
  entries: readonly Entry[],
  hint: string | null,
): Promise<EnqueuedJob[]> {
  const handedTo = entries.find((entry) => entry.handedTo)?.handedTo ?? null;
  const rows = await db.run(ENQUEUE_PLAIN, [
    entries[0]?.lane.shard ?? 0,
    arrayText(entries.map(({ job }) => job.id)),
    arrayText(entries.map(({ lane }) => lane.lane)),
    arrayText(entries.map(({ job }) => -job.priority)),
    arrayText(entries.map(({ job }) => job.maxAttempts)),
    arrayText(
      entries.map((entry) => (handedTo !== null && entry.handedTo === handedTo ? 't' : 'f')),
    ),
    handedTo,
    `[${entries.map(storedParams).join(',')}]`,
    hint,
    entries.some(({ job }) => job.traceparent !== null)
      ? arrayText(entries.map(({ job }) => job.traceparent))
      : null,
  ]);
  const running = new Set(rows.map((row) => row.n));
  return entries.map(({ job }, n) => ({
    jobId: job.id,
    status: running.has(n) ? 'running' : 'queued',
    created: true,
  }));
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
  const early = entries.some((entry) => keyShardOf(entry) !== entry.lane.shard || entry.job.unique);
  let pending = entries.map(toRow);
  for (let tries = 0; pending.length > 0; tries += 1) {
    if (tries === 5) throw new Error('an idempotency key kept changing hands');
    const ready = early ? await takeKeys(db, pending) : pending;
    for (const [shard, rows] of byShard(entries, ready)) {
      for (const round of inRounds(rows)) {
        const fresh = early ? await meet(db, shard, round, answers) : round;
        if (fresh.length === 0) continue;
        const made = await db.run(ENQUEUE, [shard, JSON.stringify(fresh)]);
        const gates = made.flatMap(({ gate }) => gate ?? []);
        await admit(db, shard, gates);
        for (const { n, state } of made.filter(({ gate }) => gate === null)) {
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
  rows: readonly Row[],
  answers: EnqueuedJob[],
): Promise<Row[]> {
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

function byShard(entries: readonly Entry[], rows: readonly Row[]): [number, Row[]][] {
  const groups = Map.groupBy(rows, ({ n }) => entries[n]?.lane.shard ?? 0);
  return [...groups].sort(([a], [b]) => a - b);
}

function storedParams({ job, sealedParams }: Entry): string {
  return sealedParams ?? job.paramsJson;
}

function keyShardOf({ keyShard, lane }: Entry): number {
  return keyShard ?? lane.shard;
}

type Row = ReturnType<typeof toRow>;

function toRow(entry: Entry, n: number) {
  const { job, lane, handedTo, schedule } = entry;
  const keyed = job.idempotencyKey !== null;
  const tenantWide = job.idempotencyScope === 'tenant';
  const scope = `idempotency\n${job.tenant}${tenantWide ? '' : `\n${job.definitionKey}`}`;
  const unique = uniqueKeyOf(job);
  return {
    n,
    id: job.id,
    lane: lane.lane,
    params: storedParams(entry),
    tags: job.tags && job.tags.length > 0 ? job.tags : null,
    policy: unique
      ? { ...job.policy, unique: { key: unique.key, while: unique.while } }
      : job.policy,
    unique,
    scope: keyed ? scope : null,
    idempotency_key: job.idempotencyKey,
    params_sha: keyed ? canonicalSha(job.paramsJson) : null,
    key_shard: keyShardOf(entry),
    any_params: tenantWide,
    rank: -job.priority,
    max_attempts: job.maxAttempts,
    hold: job.hold,
    run_at: job.runAt,
    delay_ms: job.delayMs ?? 0,
    handed_to: handedTo ?? null,
    schedule_id: schedule?.id ?? null,
    scheduled_for: schedule?.slotAt ?? null,
    expires_at: job.expiresAt,
    fails_unhandled: job.failsUnhandled || null,
    concurrency_key: job.concurrencyKey,
    traceparent: job.traceparent,
  };
}

/** A name that the caller gave and one made from params can never be the same. */
function uniqueKeyOf({ tenant, definitionKey, paramsJson, unique }: NewJob): UniqueKey | null {
  if (!unique) return null;
  const scope = `unique\n${tenant}\n${definitionKey}`;
  const params_sha = canonicalSha(paramsJson);
  const key = unique.key === null ? `params:${params_sha}` : `key:${unique.key}`;
  return { ...unique, scope, key, params_sha };
}
