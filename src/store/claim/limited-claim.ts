import { type Queryable, statement } from '../connection/db.ts';
import { MOVED, counters, WITH_DELIVERIES } from '../counters/counter-moves.ts';
import { type ClaimedJob, type ClaimLevel, levelValues } from './claim.ts';
import { deliveriesOfClaimed } from './delivery-jobs.ts';
import { ASKED, LEVEL_ROOM, LOCKED_LIMITERS, OPEN_LEVELS, SEEN } from './limited-levels.ts';
import { CHOSEN, FITTING, LOCKED_KEYS, NUMBERED, PICKED } from './limited-pick.ts';
import {
  BLOCK_EARLY,
  COUNT_SPENT,
  COUNT_SPENT_KEYS,
  DELETE_WAITING,
  INSERT_RUNNING,
  SHUT,
  SPENT,
  SPENT_KEYS,
} from './limited-write.ts';

/**
 * Claims from queues that have limits: also takes permits of the limiters of definition and tenant. Levels
 * without limiters may be among the others, so that priority holds over all of them. It also makes the
 * webhook deliveries that a plain claim leaves out.
 *
 * The order: find the levels with room and lock their limiters (`limited-levels.ts`), choose the jobs
 * (`limited-pick.ts`), write jobs and counters (`limited-write.ts`). The answer says which queues are
 * blocked by a limiter, and when the rate of one has its next token.
 */

export interface LimitedClaim {
  jobs: ClaimedJob[];
  /** Queues that yield no job until a permit is returned or a rate has a token. */
  shutQueues: number[];
  /** Time until a rate unblocks one of them; null when only a returned permit can. */
  opensInMs: number | null;
  /** Time until a key has its next token; null when no job waits for one. */
  keyOpensInMs: number | null;
  /** Whether the other levels may have more jobs than were claimed. */
  more: boolean;
}

interface LimitedRow extends ClaimedJob {
  shut: number[] | null;
  opens_ms: number | null;
  key_opens_ms: number | null;
  more: boolean;
}

const CLAIM_LIMITED = statement<LimitedRow>(
  'claim_limited',
  `with ${ASKED}, ${SEEN}, ${OPEN_LEVELS}, ${LOCKED_LIMITERS}, ${LEVEL_ROOM},
  ${PICKED}, ${LOCKED_KEYS}, ${NUMBERED}, ${FITTING}, ${CHOSEN},
  ${DELETE_WAITING}, ${INSERT_RUNNING}, ${BLOCK_EARLY},
  ${SPENT}, ${COUNT_SPENT}, ${SPENT_KEYS}, ${COUNT_SPENT_KEYS},
  ${deliveriesOfClaimed('ok')}, ${counters(MOVED, WITH_DELIVERIES)}, ${SHUT}
  select p.id, p.queue, p.rank, p.seq, p.attempts + 1 as attempts,
    p.attempts_max as "maxAttempts", p.claim_no + 1 as claim, p.interruptions,
    j.params::text as "paramsJson", j.policy,
    num_nonnulls(p.definition_limiter, p.tenant_limiter) > 0 or p.has_permit as limited,
    p.watched is not null as watched, j.traceparent,
    null::int as "waitedMs",
    null::int[] as shut, null::float8 as opens_ms, null::float8 as key_opens_ms, null as more
  from ok p cross join lateral (
    select params, policy, traceparent from longshore.job where shard = $1 and id = p.id limit 1
  ) j
  union all
  select null, null, null, null, null, null, null, null, null, null, null, null, null, null,
    array(select distinct a.queue from asked a
      where exists (select 1 from shut s where s.limiter in (a.definition_limiter, a.tenant_limiter))),
    (select min(ms) from shut), (select min(ms) from counted_key),
    (select count(*) from picked) >= $2 or (select count(*) from ok) < (select count(*) from picked)`,
);

const NOTHING: LimitedClaim = {
  jobs: [],
  shutQueues: [],
  opensInMs: null,
  keyOpensInMs: null,
  more: false,
};

/** Claims at most `limit` jobs, within the room of every limiter. */
export async function claimLimited(
  db: Queryable,
  shard: number,
  limit: number,
  worker: string,
  levels: readonly ClaimLevel[],
): Promise<LimitedClaim> {
  if (limit <= 0 || levels.length === 0) return NOTHING;
  const rows = await db.run(CLAIM_LIMITED, [shard, limit, worker, ...levelValues(levels)]);
  const about = rows.find((row) => row.shut !== null);
  return {
    jobs: rows.filter((row) => row.shut === null),
    shutQueues: about?.shut ?? [],
    opensInMs: about?.opens_ms ?? null,
    keyOpensInMs: about?.key_opens_ms ?? null,
    more: about?.more ?? false,
  };
}
