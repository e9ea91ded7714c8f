import { piece } from '../connection/backend.ts';
import { arrayText, type Queryable, statement } from '../connection/db.ts';
import { distributedFunction } from '../connection/distributed-function.ts';
import type { ClaimedJob, ClaimLevel } from './claim.ts';
import type { SettleAndClaim, SettleAndClaimRow } from './settle-and-claim.ts';
import type { Settlement } from './settlement.ts';

/**
 * The short form of `claim` and `settle_and_claim`: a function of small statements
 * (`longshore.settle_and_claim_few`). A plan for a batch has many nodes, and PostgreSQL sets up all of
 * them even for one job; a quiet queue, where each job comes alone, would pay for that twice per job. Each
 * job more costs a fixed amount here, so larger batches use the statements.
 */

/** The most jobs for which the function costs less. */
export const FEW = 3;

/** Whether a claim, or a claim with these settlements, is small enough. */
export function areFew(limit: number, levels: readonly ClaimLevel[], settlements = 0): boolean {
  return levels.length <= 1 && (limit <= FEW || levels.length === 0) && settlements <= FEW;
}

const CALL = `longshore.settle_and_claim_few(
     $1::smallint, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`;

/** The same function on the node of the shard; Citus finds a row by its id, not by its place. */
const ON_CITUS = distributedFunction({
  name: 'settle_and_claim_few',
  args: `p_shard smallint, most integer, of_worker uuid, of_queue integer, of_rank integer,
    floor_seq bigint, default_attempts integer, of_ids uuid[], of_claims integer[], results json,
    pids integer[], peaks bigint[], cpus integer[]`,
  returns: `table (
    settled uuid[], id uuid, queue integer, rank integer, seq bigint, attempts integer,
    "maxAttempts" integer, claim integer, interruptions integer, "paramsJson" text, policy jsonb,
    limited boolean, watched boolean, traceparent text, "waitedMs" integer)`,
  body: `declare
      ended_ids uuid[] := '{}';
      r longshore.running;
      w longshore.waiting;
      is_keyed boolean;
    begin
      for i in 1 .. cardinality(of_ids) loop
        delete from longshore.running o
        where o.shard = p_shard and o.id = of_ids[i] and o.claim_no = of_claims[i]
          and o.state = 'running' and o.permits is null and o.watched is null
          and not exists (
            select 1 from longshore.queue q
            where q.shard = p_shard and q.queue = o.queue
              and coalesce('succeeded' = any (q.subscribed_states), false))
        returning o.* into r;
        continue when not found;
        insert into longshore.done (shard, id, queue, state, rank, attempts, max_attempts, claim_no,
          interruptions, queued_at, worker, started_at, finished_at,
          progress_fraction, progress_message, pid, peak_rss_bytes, cpu_ms, result)
        values (p_shard, r.id, r.queue, 'succeeded', r.rank, r.attempts, r.max_attempts, r.claim_no,
          r.interruptions, r.queued_at, r.worker, r.started_at, clock_timestamp(),
          r.progress_fraction, r.progress_message, pids[i], peaks[i], cpus[i], results -> (i - 1));
        insert into longshore.counter_delta (shard, queue, was, state, n)
        values (p_shard, r.queue, 'running', 'succeeded', 1);
        ended_ids := ended_ids || of_ids[i];
      end loop;
      if cardinality(ended_ids) < cardinality(of_ids) then
        settled := ended_ids;
        return next;
        settled := null;
      end if;
      if most = 0 then return; end if;

      select q.keyed into is_keyed from longshore.queue q
      where q.shard = p_shard and q.queue = of_queue and q.plain
        and exists (
          select 1 from longshore.worker i
          where i.shard = p_shard and i.instance = of_worker
            and i.dead_at is null and i.draining_at is null);
      if not found then return; end if;
      for i in 1 .. most loop
        delete from longshore.waiting o
        where o.shard = p_shard and o.id = (
          select h.id from longshore.waiting h
          where h.shard = p_shard and h.queue = of_queue and h.rank = of_rank and h.seq > floor_seq
            and (h.expires_at is null or h.expires_at > clock_timestamp())
            and (h.has_permit or h.key_limiter is null or not is_keyed)
          order by h.seq limit 1
          for update skip locked)
        returning o.* into w;
        exit when not found;
        id := w.id;
        queue := w.queue;
        rank := w.rank;
        seq := w.seq;
        attempts := w.attempts + 1;
        "maxAttempts" := coalesce(w.max_attempts, default_attempts);
        claim := w.claim_no + 1;
        interruptions := w.interruptions;
        limited := w.has_permit;
        watched := w.watched is not null;
        insert into longshore.running (shard, id, queue, state, rank, key_limiter, expires_at, attempts,
          max_attempts, claim_no, interruptions, queued_at, worker, started_at, permits, fails_unserved,
          watched)
        values (p_shard, w.id, w.queue, 'running', w.rank, w.key_limiter, w.expires_at, w.attempts + 1,
          coalesce(w.max_attempts, default_attempts), w.claim_no + 1, w.interruptions, w.queued_at,
          of_worker, clock_timestamp(), case when w.has_permit then array[w.key_limiter] end,
          w.fails_unserved, w.watched);
        insert into longshore.counter_delta (shard, queue, was, state, n)
        values (p_shard, w.queue, 'queued', 'running', 1);
        select j.params::text, j.policy, j.traceparent into "paramsJson", policy, traceparent
        from longshore.job j where j.shard = p_shard and j.id = w.id;
        "waitedMs" := date_part('epoch', clock_timestamp() - w.queued_at) * 1000;
        return next;
      end loop;
    end`,
});

const CALL_ON_CITUS = ON_CITUS.call(`$1::smallint, $2::int, $3::uuid, $4::int, $5::int, $6::bigint,
     $7::int, $8::uuid[], $9::int[], $10::json, $11::int[], $12::bigint[], $13::int[]`);

const CLAIM_FEW = statement<ClaimedJob>(
  'claim_few',
  `select id, queue, rank, seq, attempts, "maxAttempts", claim, interruptions, "paramsJson", policy,
     limited, watched, traceparent, "waitedMs"
   from ${piece(CALL, CALL_ON_CITUS)}`,
  { ofShard: true },
);

const SETTLE_AND_CLAIM_FEW = statement<SettleAndClaimRow>(
  'settle_and_claim_few',
  `select settled, id, queue, rank, seq, attempts, "maxAttempts", claim, interruptions, "paramsJson",
     policy, limited, watched, traceparent, "waitedMs"
   from ${piece(CALL, CALL_ON_CITUS)}`,
  { ofShard: true },
);

/** Claims at most `FEW` jobs of at most one level. */
export async function claimFew(
  db: Queryable,
  shard: number,
  limit: number,
  worker: string,
  levels: readonly ClaimLevel[],
): Promise<ClaimedJob[]> {
  const values = [...levelValues(limit, worker, levels), ...settlementValues([])];
  return await db.run(CLAIM_FEW, [shard, ...values]);
}

/** Settles at most `FEW` plain successes, and claims as `claimFew` does. */
export async function settleAndClaimFew(
  db: Queryable,
  shard: number,
  { settlements, limit, instance, levels }: SettleAndClaim,
): Promise<SettleAndClaimRow[]> {
  const values = [...levelValues(limit, instance, levels), ...settlementValues(settlements)];
  return await db.run(SETTLE_AND_CLAIM_FEW, [shard, ...values]);
}

function levelValues(limit: number, worker: string, [level]: readonly ClaimLevel[]): unknown[] {
  return level
    ? [limit, worker, level.queue, level.rank, level.floor, level.attempts]
    : [0, worker, null, null, null, null];
}

/** The settlements as columns, also for the statement of batches. */
export function settlementValues(settlements: readonly Settlement[]): string[] {
  return [
    arrayText(settlements.map(({ id }) => id)),
    arrayText(settlements.map(({ claim }) => claim)),
    `[${settlements.map(({ transition }) => transition.resultJson).join(',')}]`,
    arrayText(settlements.map(({ usage }) => usage.pid)),
    arrayText(settlements.map(({ usage }) => usage.peakRssBytes)),
    arrayText(settlements.map(({ usage }) => usage.cpuMs)),
  ];
}
