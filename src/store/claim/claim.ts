import type { JobPolicy } from '../../core/job/job.ts';
import { arrayText, type Queryable, statement } from '../connection/db.ts';
import { countMoves } from '../counters/counter-moves.ts';
import { areFew, claimFew } from './few.ts';
import { atCtids, filterOnly, ctidOf } from '../connection/planner.ts';

/**
 * Claiming is the hot path, and the place where two workers could get the same job.
 *
 * The caller brings the *levels* it wants to claim from, best first (`core/queue/claim-order.ts`). For each
 * level a LATERAL subquery reads the head of one index range and skips rows that another claim has locked;
 * the outer LIMIT stops the walk as soon as enough are found. So the cost of a claim depends on the jobs it
 * takes, not on the jobs that wait.
 *
 * A *floor* per level says where to start. Claimed rows leave dead entries at the head of the index until
 * vacuum removes them, which a forgotten open transaction can prevent for hours. A claim starts above the
 * last taken position and never walks over them. (Each poll of `worker/claim/levels.ts` lowers the floors,
 * because a job may commit late with an early position.)
 *
 * A materialized CTE locks the rows; they are then deleted at their positions. `delete … where id in (select …
 * limit n for update skip locked)` may run its subquery more than once and take more than n. The other parts
 * read the picked rows without a join, because a join of two batches is planned by estimates of their size.
 * The claim charges the attempt and increments the claim number, so a job that always kills its process uses
 * up its attempts.
 *
 * Only plain queues are read (`queue.plain`). `store/claim/limited-claim.ts` claims from queues with limits or
 * with a webhook for starts. A claimable job with a limited concurrency key already has its permit.
 */

export interface ClaimLevel {
  queue: number;
  rank: number;
  floor: number;
  /** The attempt limit of jobs without one: they were enqueued before their definition was published. */
  attempts: number;
}

export interface ClaimedJob {
  id: string;
  queue: number;
  rank: number;
  seq: number;
  attempts: number;
  maxAttempts: number;
  claim: number;
  interruptions: number;
  paramsJson: string;
  policy: JobPolicy | null;
  /** Whether it holds permits, for which other jobs may be blocked. */
  limited: boolean;
  /** Whether others wait for its end. A job may get that mark later, too. */
  watched: boolean;
  traceparent: string | null;
  /** How long it waited, for its worker to count; null when the statement has counted it. */
  waitedMs: number | null;
}

/** The columns of `ClaimLevel` as one row for each level. */
export const ASKED_LEVELS = `unnest($4::int[], $5::int[], $6::bigint[], $7::int[])
      with ordinality as l(queue, rank, floor, attempts, n)`;

/** The values of `ASKED_LEVELS`. */
export function levelValues(levels: readonly ClaimLevel[]): string[] {
  return [
    arrayText(levels.map((level) => level.queue)),
    arrayText(levels.map((level) => level.rank)),
    arrayText(levels.map((level) => level.floor)),
    arrayText(levels.map((level) => level.attempts)),
  ];
}

/** The levels of $4 to $7 that a plain claim may read; none when the worker $3 is dead or draining. */
const LEVELS = `
  level as materialized (
    select l.*, k.keyed
    from ${ASKED_LEVELS}
    cross join lateral (
      select keyed from longshore.queue
      where shard = $1 and queue = l.queue and plain limit 1
    ) k
    where exists (
      select 1 from longshore.worker w
      where w.shard = $1 and w.instance = $3 and w.dead_at is null and w.draining_at is null
    )
    order by l.n
  )`;

/** The first $2 jobs of the levels, locked. */
const PICKED = `
  picked as materialized (
    select w.*, coalesce(w.max_attempts, l.attempts) as attempts_max
    from level l cross join lateral (
      select ${ctidOf('w', 'id')} as place, w.* from longshore.waiting w
      where w.shard = $1 and w.queue = l.queue and w.rank = l.rank and w.seq > l.floor
        and (w.expires_at is null or w.expires_at > clock_timestamp())
        and (w.has_permit or w.key_limiter is null or not l.keyed)
      order by w.seq limit $2
      for update skip locked
    ) w
    limit $2
  )`;

/** Moves the picked jobs from `waiting` to `running`; yields none. */
const MOVE_PICKED = `
  left_waiting as (
    delete from longshore.waiting
    where ${atCtids('select place from picked', '', 'id')} and ${filterOnly('shard = $1')}
  ),
  taken as (
    insert into longshore.running (shard, id, queue, state, rank, key_limiter, expires_at, attempts,
      max_attempts, claim_no, interruptions, queued_at, worker, started_at, permits, fails_unserved, watched)
    select shard, id, queue, 'running', rank, key_limiter, expires_at, attempts + 1,
      attempts_max, claim_no + 1, interruptions, queued_at, $3, clock_timestamp(),
      case when has_permit then array[key_limiter] end, fails_unserved, watched
    from picked
  )`;

/** What claims in this shard $1 consist of, also in `store/claim/settle-and-claim.ts`. */
export const TAKE = `${LEVELS}, ${PICKED}, ${MOVE_PICKED}`;

/** The moves of a claim. The worker counts how long the jobs waited (`worker/claim/timings.ts`). */
export const STARTED =
  "select queue, 'queued'::longshore.job_state, 'running'::longshore.job_state, count(*) from picked group by queue";

const WAITED = "(date_part('epoch', clock_timestamp() - p.queued_at) * 1000)::int";

/** The answer of a claim: the picked jobs with their params. */
export const TAKEN = `p.id, p.queue, p.rank, p.seq, p.attempts + 1 as attempts,
    p.attempts_max as "maxAttempts", p.claim_no + 1 as claim, p.interruptions,
    j.params::text as "paramsJson", j.policy, p.has_permit as limited,
    p.watched is not null as watched, j.traceparent,
    ${WAITED} as "waitedMs"
  from picked p cross join lateral (
    select params, policy, traceparent from longshore.job where shard = $1 and id = p.id limit 1
  ) j`;

const CLAIM = statement<ClaimedJob>(
  'claim',
  `with ${TAKE}, ${countMoves(STARTED)} select ${TAKEN}`,
);

/** Claims at most `limit` jobs for a worker instance that is alive and not draining. */
export async function claim(
  db: Queryable,
  shard: number,
  limit: number,
  worker: string,
  levels: readonly ClaimLevel[],
): Promise<ClaimedJob[]> {
  if (limit <= 0 || levels.length === 0) return [];
  if (areFew(limit, levels)) return await claimFew(db, shard, limit, worker, levels);
  return await db.run(CLAIM, [shard, limit, worker, ...levelValues(levels)]);
}
