import { isLimited, type Limits } from '../../core/queue/limits.ts';
import { piece } from '../connection/backend.ts';
import { type Queryable, statement } from '../connection/db.ts';

/**
 * Sets limits in one shard. The caller's transaction holds the lock of `lockQueues`, so no queue is
 * created meanwhile without them. They apply to every claim that begins after the commit.
 *
 * Jobs may run already when a limit is set for the first time. They are *adopted*: each gets a permit
 * of the limiter, also beyond the limit; no new job starts until enough of them have ended. A claim that
 * is under way at that moment is not visible yet; the sweep adopts its jobs during the next
 * `ADOPT_SECONDS` (`store/limits/sweep-limiters.ts`).
 */

export type LimitScope = 'definition' | 'tenant';

const LOCK = statement<{ lock_queues: string }>('lock_queues', 'select longshore.lock_queues()');

export async function lockQueues(tx: Queryable): Promise<void> {
  await tx.run(LOCK);
}

/** The row stays when its limits are removed: running jobs return their permits to it. */
const PUT_LIMITER = statement<{ limiter: string }>(
  'put_limiter',
  `insert into longshore.limiter (shard, limiter, name, lim, rate, key_lim, key_rate)
   values ($1, longshore.limiter_of($2, $3), $2 || ' ' || $3, $4, $5::jsonb, $6, $7::jsonb)
   on conflict (limiter, shard) do update
     set lim = excluded.lim, rate = excluded.rate, key_lim = excluded.key_lim,
       key_rate = excluded.key_rate
     where (limiter.lim, limiter.rate, limiter.key_lim, limiter.key_rate)
       is distinct from (excluded.lim, excluded.rate, excluded.key_lim, excluded.key_rate)
   returning limiter::text`,
);

/** A function that reads, which Citus does not call for a queue. */
const LIMITS_OF_QUEUE = piece(
  'longshore.limits_of_queue($1, q.key, q.tenant)',
  `(select case when num_nonnulls(d.lim, d.rate, d.key_rate) > 0 then d.limiter end as definition_limiter,
         case when num_nonnulls(t.lim, t.rate, t.key_rate) > 0 then t.limiter end as tenant_limiter,
         num_nonnulls(d.key_lim, d.key_rate) > 0 as keyed
       from (values (left(q.key, 1) <> '$')) as of_queue(limited)
       left join longshore.limiter d on of_queue.limited
         and d.shard = $1 and d.limiter = longshore.limiter_of('definition', q.key)
       left join longshore.limiter t on of_queue.limited
         and t.shard = $1 and t.limiter = longshore.limiter_of('tenant', q.tenant))`,
);

/** Stores on the queues of a definition or tenant which limits apply to them now. */
const applyTo = (scope: LimitScope, condition: string) =>
  statement<{ queue: number }>(
    `apply_${scope}_limits`,
    `with changed as materialized (
       select q.queue, l.* from longshore.queue q
       cross join lateral ${LIMITS_OF_QUEUE} l
       where q.shard = $1 and ${condition} and (q.definition_limiter, q.tenant_limiter, q.keyed)
         is distinct from (l.definition_limiter, l.tenant_limiter, l.keyed)
     )
     update longshore.queue q
     set definition_limiter = c.definition_limiter, tenant_limiter = c.tenant_limiter, keyed = c.keyed
     from changed c
     where q.shard = $1 and q.queue = c.queue
     returning q.queue`,
  );

const APPLY = {
  definition: applyTo('definition', 'q.key = $2'),
  tenant: applyTo('tenant', 'q.tenant = $2'),
};

/** Longer than any claim in progress can take. */
const ADOPT_SECONDS = 120;

const ADOPT_FOR = statement<{ limiter: string }>(
  'adopt_for',
  `update longshore.limiter
   set adopt_until = clock_timestamp() + make_interval(secs => ${ADOPT_SECONDS})
   where shard = $1 and limiter = longshore.limiter_of($2, $3)
   returning limiter::text`,
);

/** Writes the limits of a definition or tenant; returns whether they changed. */
export async function installLimits(
  tx: Queryable,
  shard: number,
  scope: LimitScope,
  name: string,
  limits: Limits,
): Promise<boolean> {
  const { concurrencyLimit, rateLimit, concurrencyKeyLimit, keyRateLimit } = limits;
  const changed = await tx.run(PUT_LIMITER, [
    shard,
    scope,
    name,
    concurrencyLimit,
    rateLimit && JSON.stringify(rateLimit),
    concurrencyKeyLimit,
    keyRateLimit && JSON.stringify(keyRateLimit),
  ]);
  const queues = await tx.run(APPLY[scope], [shard, name]);
  if (queues.length > 0 && isLimited(limits)) await tx.run(ADOPT_FOR, [shard, scope, name]);
  return changed.length > 0 || queues.length > 0;
}
