import { BATCH_JOBS_MAX, BATCH_KEY, BATCH_OPEN } from '../../core/batch/batch.ts';
import { CHILDREN } from '../../core/dependency/children.ts';
import { shardOfJobId } from '../../core/job/job-id.ts';
import { lockForSignals } from '../claim/resume.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { filterOnly } from '../connection/planner.ts';
import type { LevelHint } from '../connection/wake.ts';
import { resolveNow } from '../edges/resolve-ended.ts';
import { enqueueWithin } from '../enqueue/enqueue.ts';
import type { EnqueuedJob, Entry } from '../enqueue/enqueue-entry.ts';

/**
 * Stores batches and their jobs. What `waits_for` says of a batch decides whether it accepts jobs. It is
 * read and changed under the lock of its body, which the resolver takes as well before it looks
 * (`store/edges/resolve-ended.ts`): a job that is added, the close, and the end of the last job come one
 * after the other, and each sees what the one before has written.
 */

/** A job of a batch to store. */
export interface NewMember {
  /** Its name among the jobs of the batch, which a repeated request gives again; null for the next number. */
  name: string | null;
  /** The hash of its definition and params. */
  asked: string;
  entry: Entry;
}

export interface NewBatch {
  entry: Entry;
  open: boolean;
  members: readonly NewMember[];
  /** They wait for the batch. */
  callbacks: readonly Entry[];
}

export interface StoredBatch {
  id: string;
  /** False when an earlier request with the same idempotency key made it. */
  created: boolean;
  /** What was stored now, for `announce`. */
  entries: Entry[];
  answers: EnqueuedJob[];
  levels: LevelHint[];
}

export class TooManyBatchJobs extends Error {
  override name = 'TooManyBatchJobs';

  constructor() {
    super(`a batch can have ${BATCH_JOBS_MAX} jobs: make another batch for the others`);
  }
}

/** Needs a transaction. The batch comes first: its idempotency key decides whether anything is stored. */
export async function storeBatch(
  tx: Queryable,
  { entry, open, members, callbacks }: NewBatch,
): Promise<StoredBatch> {
  const batch = { ...entry, watched: true as const, waitsFor: open ? BATCH_OPEN : CHILDREN };
  const [stored] = await enqueueWithin(tx, [batch]);
  if (!stored) throw new Error('the batch was not stored');
  const { jobId: id, created } = stored;
  if (!created) return { id, created, entries: [], answers: [], levels: [] };
  const jobs = await storeMembers(tx, id, members);
  const after = await enqueueWithin(tx, callbacks);
  const levels = open ? [] : await resolveNow(tx, shardOfJobId(id), [id]);
  return {
    id,
    created,
    entries: [...jobs.entries, ...callbacks],
    answers: [...jobs.answers, ...after],
    levels,
  };
}

const NEXT_POSITION = statement<{ next: number }>(
  'next_batch_position',
  `select position + 1 as next from longshore.edge
   where shard = $1 and job_id = $2 and kind = 'child' order by position desc limit 1`,
);

const ADD = statement<{ id: string }>(
  'add_batch_jobs',
  `insert into longshore.edge
     (shard, job_id, kind, position, on_shard, on_id, on_failure, name, asked)
   select $1, $2, 'child', c.position, c.shard, c.id, 'run', c.name, c.asked
   from json_to_recordset($3::json) as c(position int, shard smallint, id uuid, name text, asked text)
   returning on_id as id`,
);

async function storeMembers(
  tx: Queryable,
  batchId: string,
  members: readonly NewMember[],
): Promise<{ entries: Entry[]; answers: EnqueuedJob[] }> {
  if (members.length === 0) return { entries: [], answers: [] };
  const shard = shardOfJobId(batchId);
  const [last] = await tx.run(NEXT_POSITION, [shard, batchId]);
  const first = last?.next ?? 0;
  if (first + members.length > BATCH_JOBS_MAX) throw new TooManyBatchJobs();
  // Watched from the beginning: the statement that ends a job tells the resolver.
  const entries = members.map(({ entry }) => ({ ...entry, watched: true as const }));
  const answers = await enqueueWithin(tx, entries);
  const rows = members.map(({ name, asked }, index) => {
    const id = answers[index]?.jobId ?? '';
    const position = first + index;
    return { id, shard: shardOfJobId(id), position, name: name ?? `#${position}`, asked };
  });
  await tx.run(ADD, [shard, batchId, JSON.stringify(rows)]);
  return { entries, answers };
}

/** A batch of the tenant. */
const FIND = statement<{ id: string }>(
  'find_batch',
  `select j.id from (
     select * from longshore.job where shard = $1 and id = $2 limit 1
   ) j
   join lateral (
     select * from longshore.queue where shard = $1 and queue = j.queue limit 1
   ) q on q.tenant = $3 and q.key = '${BATCH_KEY}'
   where j.created_at is not null`,
);

/** A close or a cancel changes `waits_for`, under the same lock; it comes before or after this. */
const HOLD = statement<{ id: string }>(
  'hold_open_batch',
  `select w.id from longshore.waiting w
   where w.shard = $1 and w.id = $2 and ${filterOnly(`w.waits_for = '${BATCH_OPEN}'`)} for share`,
);

const KNOWN = statement<{ name: string; asked: string }>(
  'known_batch_jobs',
  `select e.name, e.asked from unnest($3::text[]) as u(name)
   cross join lateral (
     select name, asked from longshore.edge
     where shard = $1 and job_id = $2 and name = u.name limit 1
   ) e`,
);

export type AddedJobs =
  | { kind: 'missing' | 'closed' | 'repeated' | 'conflict' }
  | { kind: 'added'; entries: Entry[]; answers: EnqueuedJob[] };

/**
 * Adds jobs to an open batch. A request whose first name is known is a repeat, also when the batch was
 * closed since, and stores nothing. Needs a transaction.
 */
export async function addToBatch(
  tx: Queryable,
  tenant: string,
  batchId: string,
  members: readonly NewMember[],
): Promise<AddedJobs> {
  const shard = shardOfJobId(batchId);
  await lockForSignals(tx, shard, [batchId]);
  const [batch] = await tx.run(FIND, [shard, batchId, tenant]);
  if (!batch) return { kind: 'missing' };
  const repeat = await repeatOf(tx, batchId, members);
  if (repeat !== null) return { kind: repeat };
  const [open] = await tx.run(HOLD, [shard, batchId]);
  if (!open) return { kind: 'closed' };
  return { kind: 'added', ...(await storeMembers(tx, batchId, members)) };
}

/** What a request with names is, when jobs of its first name are stored; null when it is new. */
export async function repeatOf(
  db: Queryable,
  batchId: string,
  members: readonly Pick<NewMember, 'name' | 'asked'>[],
): Promise<'repeated' | 'conflict' | null> {
  const names = members.flatMap(({ name }) => name ?? []);
  if (names.length === 0) return null;
  const known = await db.run(KNOWN, [shardOfJobId(batchId), batchId, names]);
  if (known.length === 0) return null;
  const asked = new Map(known.map((row) => [row.name, row.asked]));
  const same = members.every((one) => asked.get(one.name ?? '') === one.asked);
  return same ? 'repeated' : 'conflict';
}

const CLOSE = statement<{ id: string }>(
  'close_batch',
  `with closed as (
     update longshore.waiting w set waits_for = '${CHILDREN}'
     where w.shard = $1 and w.id = $2 and ${filterOnly(`w.waits_for = '${BATCH_OPEN}'`)}
     returning w.id
   )
   update longshore.job j
   set policy = jsonb_set(j.policy, '{batch,closedAt}', to_jsonb(
     to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
   where j.shard = $1 and j.id = $2 and exists (select 1 from closed)
   returning j.id`,
);

export type ClosedBatch =
  { kind: 'missing' | 'unchanged' } | { kind: 'closed'; levels: LevelHint[] };

/** Closes a batch, and moves it on when all its jobs have ended. Needs a transaction. */
export async function closeBatch(
  tx: Queryable,
  tenant: string,
  batchId: string,
): Promise<ClosedBatch> {
  const shard = shardOfJobId(batchId);
  await lockForSignals(tx, shard, [batchId]);
  const [batch] = await tx.run(FIND, [shard, batchId, tenant]);
  if (!batch) return { kind: 'missing' };
  const [closed] = await tx.run(CLOSE, [shard, batchId]);
  if (!closed) return { kind: 'unchanged' };
  return { kind: 'closed', levels: await resolveNow(tx, shard, [batchId]) };
}
