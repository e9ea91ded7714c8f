import { type ClaimedJob, type ClaimLevel, TAKE, TAKEN } from './claim.ts';
import { arrayText, type Queryable, statement } from '../connection/db.ts';
import { filterOnly } from '../connection/planner.ts';
import { inLockOrder } from '../connection/lock-order.ts';
import type { Settlement } from './settlement.ts';
import { started, counters } from '../counters/counter-moves.ts';
import { isSubscribed } from './subscribed-queues.ts';

/**
 * One round of the worker: settles a batch of plain successes and claims the next jobs in one statement and
 * one commit. That is a quarter less work for the database than two statements, and half the latency. It is
 * `settle` without the cases that are not plain, followed by `claim`; both are explained there. A batch that
 * holds a failure, a cancel or a retry goes through `settle`.
 *
 * The fence takes no lock of its own here. The claim number of a row never changes in place (a new claim is
 * a new row), so a found row can only be deleted or cancelled meanwhile. The delete sees both, and the rows
 * that it deleted are the jobs that ended.
 *
 * A claim that holds permits is left to `settle`, which returns them. A running job may have got one when a
 * limit was set, so the delete checks this, not only the worker. A success that a webhook subscribes to is
 * left to `settle` too (`store/claim/subscribed-queues.ts`).
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

interface SettleAndClaimRow extends ClaimedJob {
  settled: string[] | null;
}

const SUCCEEDED = `select queue, state as was, 'succeeded'::longshore.job_state as state,
        null::text as code, null::int as attempts, at - started_at as took
      from owned, clock where ${filterOnly('id in (select id from left_running)')}`;

const SETTLE_AND_CLAIM = statement<SettleAndClaimRow>(
  'settle_and_claim',
  `with clock as materialized (select clock_timestamp() as at),
  u as materialized (
    select * from rows from (
      unnest($7::uuid[]), unnest($8::int[]), json_array_elements($9::json), unnest($10::int[]),
      unnest($11::bigint[]), unnest($12::int[])
    ) as u(id, claim, result, pid, peak_rss_bytes, cpu_ms)
  ),
  owned as materialized (
    select r.*, u.result, u.pid, u.peak_rss_bytes, u.cpu_ms
    from u cross join lateral (
      select * from longshore.running r
      where r.shard = $1 and r.id = u.id and r.claim_no = u.claim and r.state = 'running'
      limit 1
    ) r
  ),
  left_running as (
    delete from longshore.running
    where shard = $1 and id = any (array(select id from owned)) and state = 'running'
      and tokens is null
      and (select ${isSubscribed('k.told', 'succeeded')} from longshore.queue k
        where k.shard = $1 and k.queue = running.queue limit 1) is not true
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
  ),
  ${TAKE}, ${counters(SUCCEEDED, started('picked'))}
  select null::uuid[] as settled, ${TAKEN}
  union all
  select array(select id from left_running), null, null, null, null, null, null, null, null, null,
    null, null, null
  where (select count(*) from left_running) <> cardinality($7::uuid[])`,
);

export async function settleAndClaim(
  db: Queryable,
  shard: number,
  batch: SettleAndClaim,
): Promise<SettleAndClaimResult> {
  const { limit, instance, levels } = batch;
  const settlements = inLockOrder(batch.settlements);
  const rows = await db.run(SETTLE_AND_CLAIM, [
    shard,
    limit,
    instance,
    arrayText(levels.map((level) => level.queue)),
    arrayText(levels.map((level) => level.rank)),
    arrayText(levels.map((level) => level.floor)),
    arrayText(settlements.map(({ id }) => id)),
    arrayText(settlements.map(({ claim }) => claim)),
    `[${settlements.map(({ transition }) => transition.resultJson).join(',')}]`,
    arrayText(settlements.map(({ usage }) => usage.pid)),
    arrayText(settlements.map(({ usage }) => usage.peakRssBytes)),
    arrayText(settlements.map(({ usage }) => usage.cpuMs)),
  ]);
  const partial = rows.find((row) => row.settled !== null);
  const jobs = partial ? rows.filter((row) => row.settled === null) : rows;
  return { settled: partial?.settled ? new Set(partial.settled) : null, jobs };
}
