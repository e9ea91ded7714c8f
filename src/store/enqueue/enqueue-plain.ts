import { attemptsOf } from '../claim/claim.ts';
import { arrayText, type Queryable, statement } from '../connection/db.ts';
import { type EnqueuedJob, type Entry, storedParams } from './enqueue-entry.ts';
import { mayRunAtOnce } from './direct-start.ts';
import { moves, counters } from '../counters/counter-moves.ts';
import { WAKE_CHANNEL } from '../connection/wake.ts';

/**
 * The common case, which must be cheap: jobs that may run at once and say nothing special. What
 * `store/enqueue/enqueue.ts` does, without what they do not need; params come as one JSON array and are only
 * cut apart.
 */

const ENQUEUE_PLAIN = statement<{ n: number }>(
  'enqueue_plain',
  `with input as materialized (
    select i.*, clock_timestamp() as at,
      i.handed and ${mayRunAtOnce('i.queue', '$7')} as running
    from rows from (
      unnest($2::uuid[]), unnest($3::int[]), unnest($4::int[]), unnest($5::int[]),
      unnest($6::bool[]), json_array_elements($8::json), unnest($10::text[])
    ) with ordinality as i(id, queue, rank, max_attempts, handed, params, traceparent, n)
  ),
  body as (
    insert into longshore.job (shard, id, queue, params, created_at, traceparent)
    select $1, id, queue, params, at, traceparent from input
  ),
  level as (
    insert into longshore.waiting (shard, id, queue, state, rank, seq, max_attempts, queued_at)
    select $1, id, queue, 'queued', rank, (extract(epoch from at) * 1000000)::bigint + n,
      max_attempts, at
    from input where not running
  ),
  slot as (
    insert into longshore.running (shard, id, queue, state, rank, attempts, max_attempts, claim_no,
      interruptions, queued_at, worker, started_at)
    select $1, id, queue, 'running', rank, 1, ${attemptsOf('input')}, 1, 0, at, $7, at
    from input where running
  ),
  ${counters(moves('null', "case when running then 'running' else 'queued' end", 'input'))}
  select n::int - 1 as n from input where running
  union all
  select -1 where $9::text is not null and pg_notify('${WAKE_CHANNEL}', $9::text)::text is not null`,
);

export function isPlain(entries: readonly Entry[]): boolean {
  const shard = entries[0]?.queue.shard;
  return entries.every(
    ({ job, queue, schedule }) =>
      queue.shard === shard &&
      !schedule &&
      job.idempotencyKey === null &&
      job.concurrencyKey === null &&
      job.tags === null &&
      job.policy === null &&
      job.unique === null &&
      job.expiresAt === null &&
      job.runAt === null &&
      !job.delayMs &&
      !job.hold,
  );
}

/** Everything is stored as queued, but for the jobs that the answer names: these run already. */
export async function storePlain(
  db: Queryable,
  entries: readonly Entry[],
  hint: string | null,
): Promise<EnqueuedJob[]> {
  const handedTo = entries.find((entry) => entry.handedTo)?.handedTo ?? null;
  const rows = await db.run(ENQUEUE_PLAIN, [
    entries[0]?.queue.shard ?? 0,
    arrayText(entries.map(({ job }) => job.id)),
    arrayText(entries.map(({ queue }) => queue.queue)),
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
