import type { JobState, NewJob } from '../core/job.ts';
import { createHash } from 'node:crypto';
import { arrayText, type Db, type Queryable, statement } from './db.ts';
import { admit, COUNT_PARKED, parks } from './gates.ts';
import { mayRunAtOnce } from './hand-over.ts';
import type { Lane } from './lanes.ts';
import { withPartitions } from './partitions.ts';
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
}

export interface EnqueuedJob {
  jobId: string;
  status: JobState;
  /** False when an earlier request with the same idempotency key had made it. */
  created: boolean;
}

export class IdempotencyConflict extends Error {
  override name = 'IdempotencyConflict';
  readonly index: number;

  constructor(index: number, key: string) {
    super(`the idempotency key "${key}" was used before with other params`);
    this.index = index;
  }
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
      longshore.gate_of('key', (
        select l.tenant || E'\\n' || l.key || E'\\n' || i.concurrency_key from longshore.lane l
        where l.shard = $1 and l.lane = i.lane and i.concurrency_key is not null)) as kgate
    from clock c, json_to_recordset($2::json) as i(
      n int, id uuid, lane int, params text, tags text[], policy jsonb, scope text,
      idempotency_key text, params_sha text, rank int, max_attempts int, hold boolean,
      run_at timestamptz, delay_ms float8, handed_to uuid, schedule_id uuid,
      scheduled_for timestamptz, concurrency_key text)
  ),
  taken as (
    insert into longshore.dedupe (shard, scope, key, job_id, params_sha)
    select $1, scope, idempotency_key, id, decode(params_sha, 'hex')
    from input where idempotency_key is not null order by scope, idempotency_key
    on conflict do nothing
    returning job_id
  ),
  fresh as materialized (
    select i.*, i.handed_to is not null and i.state = 'queued' and i.kgate is null
        and ${mayRunAtOnce('i.lane', 'i.handed_to')} as handed,
      (extract(epoch from i.at) * 1000000)::bigint + i.n as place, ${parks('i')} as parks
    from input i
    where i.idempotency_key is null or i.id in (select job_id from taken)
  ),
  body as (
    insert into longshore.job
      (shard, id, lane, params, tags, idempotency_key, policy, schedule_id, scheduled_for, created_at,
       concurrency_key)
    select $1, id, lane, params::json, tags, idempotency_key, policy, schedule_id, scheduled_for, at,
      concurrency_key
    from fresh
  ),
  entered as (
    insert into longshore.waiting
      (shard, id, lane, state, rank, kgate, seq, parked, run_at, max_attempts, queued_at)
    select $1, id, lane, state, rank, kgate,
      case when state = 'queued' and not parks then place end,
      case when state = 'queued' and parks then place end,
      case when state = 'scheduled' or (hold and (run_at is not null or delay_ms > 0))
        then coalesce(run_at, at + make_interval(secs => delay_ms / 1000.0)) end,
      max_attempts,
      case when state = 'queued' then at end
    from fresh where not handed
    returning kgate, lane, parked
  ),
  ${COUNT_PARKED},
  slot as (
    insert into longshore.running (shard, id, lane, state, rank, attempts, max_attempts, claim_no,
      interruptions, queued_at, worker, started_at)
    select $1, id, lane, 'running', rank, 1, max_attempts, 1, 0, at, handed_to, at
    from fresh where handed
  )
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
      unnest($6::bool[]), json_array_elements($8::json)
    ) with ordinality as i(id, lane, rank, max_attempts, handed, params, n)
  ),
  body as (
    insert into longshore.job (shard, id, lane, params, created_at)
    select $1, id, lane, params, at from input
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
  )
  select n::int - 1 as n from input where running
  union all
  select -1 where $9::text is not null and pg_notify('${WAKE_CHANNEL}', $9::text)::text is not null`,
);

const FIND_HOLDERS = statement<{
  n: number;
  job_id: string;
  params_sha: string;
  state: JobState | null;
}>(
  'find_holders',
  `select i.n, d.job_id, encode(d.params_sha, 'hex') as params_sha,
     coalesce(
       (select state from longshore.waiting where shard = $1 and id = d.job_id),
       (select state from longshore.running where shard = $1 and id = d.job_id),
       (select state from longshore.done where shard = $1 and id = d.job_id)) as state
   from json_to_recordset($2::json) as i(n int, scope text, idempotency_key text)
   cross join lateral (
     select * from longshore.dedupe d
     where d.shard = $1 and d.scope = i.scope and d.key = i.idempotency_key limit 1
   ) d`,
);

/** The holder's job is gone by retention, so its key is free again. */
const FREE_KEY = statement<{ job_id: string }>(
  'free_key',
  `delete from longshore.dedupe d
   where d.shard = $1 and d.scope = $2 and d.key = $3 and d.job_id = $4
     and (select id from longshore.job j where j.shard = $1 and j.id = d.job_id) is null
   returning job_id`,
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
    const shards = new Set(entries.map((entry) => entry.lane.shard));
    const keyed = entries.some((entry) => entry.job.idempotencyKey !== null);
    // One statement is atomic by itself; a conflict among many must be able to undo the others.
    if (shards.size === 1 && (entries.length === 1 || !keyed)) return await store(db, entries);
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
    `[${entries.map(({ job }) => job.paramsJson).join(',')}]`,
    hint,
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
  const rows = entries.map(toRow);
  const shards = new Set(entries.map((entry) => entry.lane.shard));
  for (const shard of [...shards].sort((a, b) => a - b)) {
    let pending = rows.filter((row) => entries[row.n]?.lane.shard === shard);
    for (let tries = 0; pending.length > 0; tries += 1) {
      if (tries === 5) throw new Error('an idempotency key kept changing hands');
      const made = await db.run(ENQUEUE, [shard, JSON.stringify(pending)]);
      const gates = made.flatMap(({ gate }) => gate ?? []);
      await admit(db, shard, gates);
      for (const { n, state } of made.filter(({ gate }) => gate === null)) {
        answers[n] = { jobId: entries[n]?.job.id ?? '', status: state, created: true };
      }
      pending = pending.filter((row) => !answers[row.n]);
      if (pending.length > 0) pending = await answerRepeats(db, shard, pending, answers);
    }
  }
  return answers;
}

/** Answers the entries whose key is held; gives back those whose holder has been pruned away. */
async function answerRepeats(
  db: Queryable,
  shard: number,
  repeats: Row[],
  answers: EnqueuedJob[],
): Promise<Row[]> {
  const again: Row[] = [];
  const holders = await db.run(FIND_HOLDERS, [shard, JSON.stringify(repeats)]);
  const byEntry = new Map(holders.map((holder) => [holder.n, holder]));
  for (const row of repeats) {
    const holder = byEntry.get(row.n);
    if (!holder) {
      again.push(row);
    } else if (holder.state === null) {
      await db.run(FREE_KEY, [shard, row.scope, row.idempotency_key, holder.job_id]);
      again.push(row);
    } else if (holder.params_sha !== row.params_sha) {
      throw new IdempotencyConflict(row.n, row.idempotency_key ?? '');
    } else {
      answers[row.n] = { jobId: holder.job_id, status: holder.state, created: false };
    }
  }
  return again;
}

type Row = ReturnType<typeof toRow>;

function toRow({ job, lane, handedTo, schedule }: Entry, n: number) {
  const keyed = job.idempotencyKey !== null;
  return {
    n,
    id: job.id,
    lane: lane.lane,
    params: job.paramsJson,
    tags: job.tags && job.tags.length > 0 ? job.tags : null,
    policy: job.policy,
    scope: keyed ? `idempotency\n${job.tenant}\n${job.definitionKey}` : null,
    idempotency_key: job.idempotencyKey,
    params_sha: keyed ? canonicalSha(job.paramsJson) : null,
    rank: -job.priority,
    max_attempts: job.maxAttempts,
    hold: job.hold,
    run_at: job.runAt,
    delay_ms: job.delayMs ?? 0,
    handed_to: handedTo ?? null,
    schedule_id: schedule?.id ?? null,
    scheduled_for: schedule?.slotAt ?? null,
    concurrency_key: job.concurrencyKey,
  };
}

/** Two JSON texts that mean the same have the same hash: the order of keys is no difference. */
function canonicalSha(json: string): string {
  const canonical = JSON.stringify(JSON.parse(json), (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return createHash('sha256').update(canonical).digest('hex');
}
