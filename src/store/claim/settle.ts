import { fingerprintOf } from '../../core/failure/fingerprint.ts';
import type { OwnedState, Usage } from '../../core/job/job.ts';
import type { Transition } from '../../core/job/lifecycle.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { TELL_SETTLED } from './delivery-jobs.ts';
import { permit, GIVE_BACK, LEFT_RUNNING, TO_PERMIT } from '../limits/limiters.ts';
import { ENDED, MAKE_HOOKS } from './hook-jobs.ts';
import { MOVED, counters, WITH_DELIVERIES, WITH_HOOKS } from '../counters/counter-moves.ts';
import { QUEUES_CHANGED, type LevelHint } from '../connection/wake.ts';

/**
 * Settling writes how a claim ended: the narrow row leaves `running` for `done` or back to `waiting`.
 *
 * The danger is a worker that lost its lease and does not know it. So the first step is the fence:
 * it looks up and locks the row by id, claim number *and* state, and everything else is made from
 * the rows it found. A stale worker finds nothing, hence changes nothing, and sees its id missing
 * from the answer. The state is part of the fence because a cancel may arrive between the decision
 * and this write; then the worker decides again (`store/claim/settlement-status.ts`).
 *
 * Each row is found by its own probe of the primary key (LATERAL with LIMIT 1) rather than by a join
 * of the batch with the table: a join is planned by guesses, which are worst when the queue is
 * busiest (measured: 90 µs a row instead of 15). Result and error travel as text inside the JSON, so
 * that what the job returned is stored to the letter. A job that ends here gets its hooks by the
 * same statement (`store/claim/hook-jobs.ts`), and who listens is told (`store/claim/delivery-jobs.ts`). Its tokens
 * go back to their limiters (`store/limits/limiters.ts`); only a job that goes straight back to its level keeps the
 * one of its key.
 *
 * A job that was lost or interrupted goes back to the place of the time when it was queued, since its
 * wait was over once already: what was enqueued after it does not go before it. Workers may have read
 * the level further by then, so they are asked to look at all levels again.
 */

export interface Settlement {
  id: string;
  claim: number;
  /** The state in which the decision was made; part of the fence. */
  was: OwnedState;
  transition: Transition;
  usage: Usage;
}

export interface Settled {
  id: string;
  /** What may be claimable now: itself, its hooks, what waited for its tokens. Workers want to know. */
  levels: LevelHint[];
}

const SETTLE = statement<{
  id: string;
  queue: number;
  rank: number;
  claimable: boolean;
  limiter: string | null;
}>(
  'settle',
  `with clock as materialized (select clock_timestamp() as at),
  u as materialized (
    select * from json_to_recordset($2::json) as u(
      n int, id uuid, claim int, was longshore.job_state, next longshore.job_state,
      delay_ms float8, given_back int, interrupted int, attempted boolean, error_code text, error text, fingerprint text, result text,
      pid int, exit_code int, signal text, peak_rss_bytes bigint, cpu_ms int)
  ),
  owned as materialized (
    select r.*, u.n, u.next, u.delay_ms, u.given_back, u.interrupted, u.attempted, u.error_code, u.error,
      u.fingerprint, u.result, u.pid, u.exit_code, u.signal, u.peak_rss_bytes, u.cpu_ms
    from u cross join lateral (
      select * from longshore.running r
      where r.shard = $1 and r.id = u.id and r.claim_no = u.claim and r.state = u.was
      limit 1 for update
    ) r
  ),
  left_running as (
    delete from longshore.running
    where shard = $1 and id = any (array(select id from owned))
  ),
  ended as (
    insert into longshore.done (shard, id, queue, state, rank, attempts, max_attempts, claim_no,
      interruptions, queued_at, worker, started_at, cancel_requested_at, cancel_requested_by, finished_at,
      progress_fraction, progress_message, pid, exit_code, signal, peak_rss_bytes, cpu_ms,
      error_code, error, fingerprint, result)
    select shard, id, queue, next, rank, attempts - given_back, max_attempts, claim_no,
      interruptions, queued_at, worker, started_at, cancel_requested_at, cancel_requested_by, at,
      progress_fraction, progress_message, pid, exit_code, signal, peak_rss_bytes, cpu_ms,
      error_code, error::json, fingerprint, result::json
    from owned, clock where next in ('succeeded', 'failed', 'cancelled')
    returning ${ENDED}
  ),
  again as (
    insert into longshore.waiting (shard, id, queue, state, rank, seq, key_limiter, run_at, expires_at,
      attempts, max_attempts, claim_no, interruptions, queued_at, has_permit, fails_unhandled)
    select shard, id, queue, next, rank,
      case when next = 'queued' then
        (extract(epoch from case when attempted then queued_at else at end) * 1000000)::bigint + n end,
      key_limiter,
      case when next <> 'queued' then at + make_interval(secs => delay_ms / 1000.0) end,
      expires_at, attempts - given_back, max_attempts, claim_no, interruptions + interrupted,
      case when next = 'queued' then at end,
      coalesce(next = 'queued' and key_limiter = any (tokens), false), fails_unhandled
    from owned, clock where next in ('queued', 'scheduled', 'retrying')
  ),
  ${LEFT_RUNNING},
  ${GIVE_BACK},
  tried as (
    insert into longshore.attempt (shard, job_id, claim_no, number, worker, pid, started_at,
      finished_at, exit_code, signal, peak_rss_bytes, cpu_ms, error_code, error, fingerprint,
      queued_at, cancel_requested_at, cancel_requested_by, next, run_at)
    select shard, id, claim_no, attempts, worker, pid, case when attempted then started_at end,
      at, exit_code, signal, peak_rss_bytes, cpu_ms, error_code, error::json, fingerprint,
      queued_at, cancel_requested_at, cancel_requested_by, next, case when next in ('scheduled', 'retrying')
        then at + make_interval(secs => delay_ms / 1000.0) end
    from owned, clock where next = 'cancelled' or (next <> 'succeeded' and attempted)
  ),
  ${MAKE_HOOKS}, ${TELL_SETTLED}, ${counters(MOVED, WITH_HOOKS, WITH_DELIVERIES)}
  select id, queue, rank, next = 'queued' or tokens is not null as claimable, null as limiter from owned
  union all
  select parent_id, queue, rank, true, null from hook
  union all
  select null, null, null, null, g.limiter from (${TO_PERMIT}) g`,
);

/** Writes all of them in one statement and answers with those that were really this claim's. */
export async function settle(
  db: Queryable,
  shard: number,
  settlements: readonly Settlement[],
): Promise<Settled[]> {
  if (settlements.length === 0) return [];
  const batch = JSON.stringify(inLockOrder(settlements).map(toRow));
  const settled = new Map<string, Settled>();
  const rows = await db.run(SETTLE, [shard, batch]);
  const limiters = rows.flatMap(({ limiter }) => limiter ?? []);
  for (const { id, queue, rank, claimable } of rows.filter(({ limiter }) => limiter === null)) {
    const one: Settled = settled.get(id) ?? { id, levels: [] };
    if (claimable) one.levels.push({ shard, queue, rank });
    settled.set(id, one);
  }
  for (const { id, transition } of settlements) {
    const back = transition.to === 'queued' && transition.attempted;
    if (back) settled.get(id)?.levels.push({ shard, queue: QUEUES_CHANGED, rank: 0 });
  }
  const all = [...settled.values()];
  all[0]?.levels.push(...(await permit(db, shard, limiters)).levels);
  return all;
}

/** Everybody locks in the order of ids, so two batches over the same jobs cannot deadlock. */
export function inLockOrder<T extends { id: string }>(items: readonly T[]): T[] {
  return items.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

function toRow({ id, claim, was, transition, usage }: Settlement, n: number) {
  return {
    n,
    id,
    claim,
    was,
    next: transition.to,
    delay_ms: transition.delayMs,
    given_back: transition.attemptGivenBack ? 1 : 0,
    interrupted: transition.interrupted ? 1 : 0,
    attempted: transition.attempted,
    error_code: transition.error?.code ?? null,
    error: transition.error ? JSON.stringify(transition.error) : null,
    fingerprint: transition.error ? fingerprintOf(transition.error) : null,
    result: transition.resultJson,
    pid: usage.pid,
    exit_code: usage.exitCode,
    signal: usage.signal,
    peak_rss_bytes: usage.peakRssBytes,
    cpu_ms: usage.cpuMs,
  };
}
