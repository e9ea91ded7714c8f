import { arrayText, type Queryable, statement } from '../connection/db.ts';
import { filterOnly } from '../connection/planner.ts';
import { WAKE_CHANNEL } from '../connection/wake.ts';
import { countMoves } from '../counters/counter-moves.ts';
import { type EnqueuedJob, type Entry, storedParams } from './enqueue-entry.ts';
import { findJobs } from './key-holders.ts';

/**
 * Stores plain jobs: due at once, without keys, tags, expiry, schedule or a policy of their own. It is
 * `store/enqueue/enqueue.ts` without what these jobs do not need; params arrive as one JSON array.
 *
 * The id of a job with a `requestId` follows from the request (`store/enqueue/request-job-id.ts`). Its body is
 * inserted unless that id exists, so a repeated request creates nothing.
 */

const CREATED =
  "select queue, null::longshore.job_state, 'queued'::longshore.job_state, count(*) from entered group by queue";

const enqueuePlain = (onConflict: string, created: string) => `with input as materialized (
    select i.*, clock_timestamp() as at
    from rows from (
      unnest($2::uuid[]), unnest($3::int[]), unnest($4::int[]), unnest($5::int[]),
      json_array_elements($6::json), unnest($8::text[])
    ) with ordinality as i(id, queue, rank, max_attempts, params, traceparent, n)
  ),
  body as (
    insert into longshore.job (shard, id, queue, params, created_at, traceparent)
    select $1, id, queue, params, at, traceparent from input ${onConflict}
  ),
  entered as (
    insert into longshore.waiting (shard, id, queue, state, rank, seq, max_attempts, queued_at)
    select $1, id, queue, 'queued', rank, (date_part('epoch', at) * 1000000)::bigint + n,
      max_attempts, at
    from input ${created}
    returning id, queue
  ),
  ${countMoves(CREATED)},
  hinted as (
    select pg_notify('${WAKE_CHANNEL}', $7::text)::text where $7::text is not null
  )`;

const ENQUEUE_PLAIN = statement<{ hints: number }>(
  'enqueue_plain',
  `${enqueuePlain('', '')} select count(*)::int as hints from hinted`,
  { ofShard: true },
);

const ENQUEUE_ONCE = statement<{ id: string }>(
  'enqueue_once',
  `${enqueuePlain(
    'on conflict (shard, id) do nothing returning id',
    `where ${filterOnly('id in (select id from body)')}`,
  )} select id from entered where (select count(*) from hinted) >= 0`,
  { ofShard: true },
);

export function isPlain(entries: readonly Entry[]): boolean {
  const shard = entries[0]?.queue.shard;
  return entries.every(
    ({ job, queue, schedule }) =>
      queue.shard === shard &&
      !schedule &&
      job.idempotencyKey === null &&
      job.concurrencyKey === null &&
      job.after === null &&
      job.tags === null &&
      job.policy === null &&
      job.unique === null &&
      job.expiresAt === null &&
      job.runAt === null &&
      !job.delayMs &&
      !job.hold,
  );
}

/** Entries of one shard. A repeat gets the state that its job has now. */
export async function storePlain(
  db: Queryable,
  entries: readonly Entry[],
  hint: string | null,
): Promise<EnqueuedJob[]> {
  if (entries.every(({ job }) => job.requestId === null)) {
    await db.run(ENQUEUE_PLAIN, valuesOf(entries, hint));
    return entries.map(({ job }) => ({ jobId: job.id, status: 'queued', created: true }));
  }
  const byId = new Map(entries.map((entry) => [entry.job.id, entry]));
  const rows = await db.run(ENQUEUE_ONCE, valuesOf([...byId.values()], hint));
  const created = new Set(rows.map(({ id }) => id));
  const repeated = await findJobs(
    db,
    [...byId.keys()].filter((id) => !created.has(id)),
  );
  return entries.map(({ job: { id } }) => {
    // The second of two equal requests in one batch is a repeat too.
    if (created.delete(id)) return { jobId: id, status: 'queued', created: true };
    return { jobId: id, status: repeated.get(id)?.state ?? 'queued', created: false };
  });
}

function valuesOf(entries: readonly Entry[], hint: string | null): unknown[] {
  const traced = entries.some(({ job }) => job.traceparent !== null);
  return [
    entries[0]?.queue.shard ?? 0,
    arrayText(entries.map(({ job }) => job.id)),
    arrayText(entries.map(({ queue }) => queue.queue)),
    arrayText(entries.map(({ job }) => -job.priority)),
    arrayText(entries.map(({ job }) => job.maxAttempts)),
    `[${entries.map(storedParams).join(',')}]`,
    hint,
    traced ? arrayText(entries.map(({ job }) => job.traceparent)) : null,
  ];
}
