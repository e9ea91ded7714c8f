import { type ClaimedJob, type ClaimLevel, levelValues, STARTED, TAKE, TAKEN } from './claim.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { atCtids, filterOnly, ctidOf } from '../connection/planner.ts';
import { areFew, settleAndClaimFew, settlementValues } from './few.ts';
import { inLockOrder } from '../connection/lock-order.ts';
import type { Settlement } from './settlement.ts';
import { countMoves } from '../counters/counter-moves.ts';
import { isSubscribed } from './subscribed-queues.ts';

/**
 * One round of the worker: settles a batch of plain successes and claims the next jobs in one statement and
 * one commit. That is a quarter less work for the database than two statements, and half the latency. It is
 * `settle` without the cases that are not plain, followed by `claim`; both are explained there. Other outcomes
 * go through `settle`. For few jobs there is a short form (`store/claim/few.ts`).
 *
 * The fence takes no lock of its own here. The claim number of a row never changes in place (a new claim is
 * a new row), so a found row can only be deleted or cancelled meanwhile. The delete sees both, and the rows
 * that it deleted are the jobs that ended.
 *
 * A claim that holds permits is left to `settle`, which returns them. A running job may have got one when a
 * limit was set, so the delete checks this, not only the worker. A success that a webhook subscribes to is
 * left to `settle` too (`store/claim/subscribed-queues.ts`), and so is the end of a job that others wait for
 * (`watched`). The worker does not send those that had the mark when they were claimed.
 */

export interface SettleAndClaim {
  settlements: readonly Settlement[];
  limit: number;
  instance: string;
  levels: readonly ClaimLevel[];
}

export interface SettleAndClaimResult {
  /** The ids that the fence let through; null when it was the whole batch. */
  settled: Set<string> | null;
  jobs: ClaimedJob[];
}

export interface SettleAndClaimRow extends ClaimedJob {
  settled: string[] | null;
}

const SUCCEEDED =
  "select queue, 'running'::longshore.job_state, 'succeeded'::longshore.job_state, count(*) from ended group by queue";

/** The queues of the batch whose successes a webhook subscribes to: one probe per queue, not per job. */
const SUBSCRIBED = `select k.queue from (select distinct queue from owned) o cross join lateral (
        select queue from longshore.queue k where k.shard = $1 and k.queue = o.queue
          and ${isSubscribed('k.subscribed_states', 'succeeded')} limit 1) k`;

const SETTLE_AND_CLAIM = statement<SettleAndClaimRow>(
  'settle_and_claim',
  `with clock as materialized (select clock_timestamp() as at),
  u as materialized (
    select * from rows from (
      unnest($8::uuid[]), unnest($9::int[]), json_array_elements($10::json), unnest($11::int[]),
      unnest($12::bigint[]), unnest($13::int[])
    ) as u(id, claim, result, pid, peak_rss_bytes, cpu_ms)
  ),
  owned as materialized (
    select r.*, u.result, u.pid, u.peak_rss_bytes, u.cpu_ms
    from u cross join lateral (
      select ${ctidOf('r', 'id')} as place, r.* from longshore.running r
      where r.shard = $1 and r.id = u.id and r.claim_no = u.claim and r.state = 'running'
      limit 1
    ) r
  ),
  left_running as (
    delete from longshore.running
    where ${atCtids('select place from owned', '', 'id')} and ${filterOnly('shard = $1')}
      and state = 'running'
      and permits is null and watched is null
      and running.queue <> all (array(${SUBSCRIBED}))
    returning id
  ),
  ended as (
    insert into longshore.done (shard, id, queue, state, rank, attempts, max_attempts, claim_no,
      interruptions, queued_at, worker, started_at, finished_at,
      progress_fraction, progress_message, pid, peak_rss_bytes, cpu_ms, result)
    select shard, id, queue, 'succeeded', rank, attempts, max_attempts, claim_no,
      interruptions, queued_at, worker, started_at, at,
      progress_fraction, progress_message, pid, peak_rss_bytes, cpu_ms, result
    from owned, clock where ${filterOnly('id in (select id from left_running)')}
    returning queue
  ),
  ${TAKE}, ${countMoves(SUCCEEDED, STARTED)}
  select null::uuid[] as settled, ${TAKEN}
  union all
  select array(select id from left_running), null, null, null, null, null, null, null, null, null,
    null, null, null, null, null
  where (select count(*) from left_running) <> cardinality($8::uuid[])`,
);

export async function settleAndClaim(
  db: Queryable,
  shard: number,
  batch: SettleAndClaim,
): Promise<SettleAndClaimResult> {
  const { limit, instance, levels } = batch;
  const settlements = inLockOrder(batch.settlements);
  const values = [shard, limit, instance, ...levelValues(levels), ...settlementValues(settlements)];
  const rows = areFew(limit, levels, settlements.length)
    ? await settleAndClaimFew(db, shard, { ...batch, settlements })
    : await db.run(SETTLE_AND_CLAIM, values);
  const partial = rows.find((row) => row.settled !== null);
  const jobs = partial ? rows.filter((row) => row.settled === null) : rows;
  return { settled: partial?.settled ? new Set(partial.settled) : null, jobs };
}
