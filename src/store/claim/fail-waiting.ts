import { fingerprintOf } from '../../core/failure/fingerprint.ts';
import type { JobError, WaitingState } from '../../core/job/job.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { DELIVERIES_OF_ENDED } from './delivery-jobs.ts';
import { tellWatchers } from '../edges/tell-watchers.ts';
import { permit, RETURN_PERMITS, LEFT_WAITING, TO_PERMIT } from '../limits/limiters.ts';
import { ENDED, MAKE_HOOKS } from './hook-jobs.ts';
import { withPartitions } from '../connection/partitions.ts';
import { inLockOrder } from '../connection/lock-order.ts';
import { counters, WITH_DELIVERIES, WITH_HOOKS } from '../counters/counter-moves.ts';
import type { LevelHint } from '../connection/wake.ts';

/**
 * Fails waiting jobs. The caller has read them earlier, so a job fails only if its claim number, state
 * and expiry are unchanged. Rows that another transaction has locked are skipped.
 */
export interface WaitingFailure {
  id: string;
  claim: number;
  was: WaitingState;
  /** As the database wrote it: a JavaScript date would cut its microseconds off. */
  expiresAt: string | null;
  error: JobError;
}

const FAILED = `
    select queue, state as was, 'failed'::longshore.job_state as state, code, null::int as attempts,
      null::interval as took
    from found`;

const FAIL_WAITING = statement<{
  id: string | null;
  queue: number;
  rank: number;
  limiter: string | null;
}>(
  'fail_waiting',
  `with seen as materialized (
    select * from json_to_recordset($2::json) as s(
      id uuid, claim int, was longshore.job_state, "expiresAt" timestamptz, error text, code text, fingerprint text)
  ),
  found as materialized (
    select w.id, w.queue, w.state, s.error, s.code, s.fingerprint
    from seen s cross join lateral (
      select w.id, w.queue, w.state from longshore.waiting w
      where w.shard = $1 and w.id = s.id and w.claim_no = s.claim and w.state = s.was
        and w.expires_at is not distinct from s."expiresAt"
      limit 1 for update skip locked
    ) w
  ),
  gone as (
    delete from longshore.waiting
    where shard = $1 and id = any (array(select id from found))
    returning *
  ),
  ended as (
    insert into longshore.done (shard, id, queue, state, rank, attempts, max_attempts, claim_no,
      interruptions, queued_at, finished_at, error_code, error, fingerprint)
    select g.shard, g.id, g.queue, 'failed', g.rank, g.attempts, g.max_attempts, g.claim_no,
      g.interruptions, g.queued_at, clock_timestamp(), f.code, f.error::json, f.fingerprint
    from gone g join found f on f.id = g.id
    returning ${ENDED}
  ),
  ${LEFT_WAITING},
  ${RETURN_PERMITS},
  ${tellWatchers("select shard, id, 'failed'::longshore.job_state from gone where watched")},
  ${MAKE_HOOKS}, ${DELIVERIES_OF_ENDED}, ${counters(FAILED, WITH_HOOKS, WITH_DELIVERIES)}
  select id, queue, rank, null as limiter from ended
  union all
  select null, queue, rank, null from hook
  union all
  select null, null, null, g.limiter from (${TO_PERMIT}) g`,
);

export interface FailedWaiting {
  ids: string[];
  /** The levels that got work: hooks, and jobs that got returned permits. */
  levels: LevelHint[];
}

export async function failWaiting(
  db: Queryable,
  shard: number,
  failures: readonly WaitingFailure[],
): Promise<FailedWaiting> {
  if (failures.length === 0) return { ids: [], levels: [] };
  const seen = inLockOrder(failures).map(({ error, ...row }) => ({
    ...row,
    error: JSON.stringify(error),
    code: error.code,
    fingerprint: fingerprintOf(error),
  }));
  const rows = await withPartitions(
    db,
    async () => await db.run(FAIL_WAITING, [shard, JSON.stringify(seen)]),
  );
  const freed = rows.flatMap(({ limiter }) => limiter ?? []);
  const hooks = rows.filter(({ id, limiter }) => id === null && limiter === null);
  return {
    ids: rows.flatMap(({ id }) => id ?? []),
    levels: [
      ...hooks.map(({ queue, rank }) => ({ shard, queue, rank })),
      ...(await permit(db, shard, freed)).levels,
    ],
  };
}
