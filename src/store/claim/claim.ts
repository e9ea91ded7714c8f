import type { JobPolicy } from '../../core/job/job.ts';
import { arrayText, type Queryable, statement } from '../connection/db.ts';
import { started, counters } from '../counters/counter-moves.ts';
import { isSubscribed } from './subscribed-queues.ts';

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
 * last taken position and never walks over them. (`worker/claim/levels.ts` lowers the floors once a second,
 * because a job may commit late with an early position.)
 *
 * The rows are locked first, by a materialized CTE, then deleted by exactly those ids: `delete … where id in
 * (select … limit n for update skip locked)` may run its subquery more than once and take more than n. All
 * else reads the picked rows without a join, since a join of two batches is planned by estimates of their
 * size. Attempt and claim number are charged here: a job that only ever kills its process still uses up its
 * attempts.
 *
 * Queues that are paused, limited or subscribed to by a webhook are left out; `store/claim/limited-claim.ts`
 * claims from the last two. A job whose concurrency key is limited already has its permit.
 */

export interface ClaimLevel {
  queue: number;
  rank: number;
  floor: number;
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
  traceparent: string | null;
}

/**
 * The number of attempts of a row of `waiting`. A job that was enqueued before its definition was published
 * has none of its own; the worker that claims it has published the definition.
 */
export const attemptsOf = (row: string) =>
  `coalesce(${row}.max_attempts, longshore.default_attempts($1, ${row}.queue))`;

/** The levels of $4 to $6 that a plain claim may read; none when the worker $3 is dead or draining. */
const LEVELS = `
  level as materialized (
    select l.queue, l.rank, l.floor, l.n, k.keyed
    from unnest($4::int[], $5::int[], $6::bigint[]) with ordinality as l(queue, rank, floor, n)
    cross join lateral (
      select keyed from longshore.queue
      where shard = $1 and queue = l.queue and paused_at is null and num_nonnulls(definition_limiter, tenant_limiter) = 0
        and not ${isSubscribed('told', 'running')}
      limit 1
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
    select w.*
    from level l cross join lateral (
      select * from longshore.waiting w
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
    where shard = $1 and id = any (array(select id from picked))
  ),
  taken as (
    insert into longshore.running (shard, id, queue, state, rank, key_limiter, expires_at, attempts,
      max_attempts, claim_no, interruptions, queued_at, worker, started_at, tokens, fails_unhandled)
    select shard, id, queue, 'running', rank, key_limiter, expires_at, attempts + 1,
      ${attemptsOf('picked')}, claim_no + 1, interruptions, queued_at, $3, clock_timestamp(),
      case when has_permit then array[key_limiter] end, fails_unhandled
    from picked
  )`;

/** What claims in this shard $1 consist of, also in `store/claim/settle-and-claim.ts`. */
export const TAKE = `${LEVELS}, ${PICKED}, ${MOVE_PICKED}`;

/** The answer of a claim: the picked jobs with their params. */
export const TAKEN = `p.id, p.queue, p.rank, p.seq, p.attempts + 1 as attempts,
    ${attemptsOf('p')} as "maxAttempts", p.claim_no + 1 as claim, p.interruptions,
    j.params::text as "paramsJson", j.policy, p.has_permit as limited, j.traceparent
  from picked p cross join lateral (
    select params, policy, traceparent from longshore.job where shard = $1 and id = p.id limit 1
  ) j`;

const CLAIM = statement<ClaimedJob>(
  'claim',
  `with ${TAKE}, ${counters(started('picked'))} select ${TAKEN}`,
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
  return await db.run(CLAIM, [
    shard,
    limit,
    worker,
    arrayText(levels.map((level) => level.queue)),
    arrayText(levels.map((level) => level.rank)),
    arrayText(levels.map((level) => level.floor)),
  ]);
}
