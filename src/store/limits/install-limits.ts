import type { Limits } from '../../core/queue/limits.ts';
import { type Queryable, statement } from '../connection/db.ts';

/**
 * How limits come into force in one shard. The caller's transaction holds the lock of `lockQueues`, so
 * no queue is made meanwhile that would not know of them. Every claim that begins after the commit
 * passes the limiter.
 *
 * Jobs may run already when a limit is set for the first time. They are *adopted*: each gets a token of
 * the limiter, which may then have more out than it allows, so that nothing new starts until enough of
 * them ended. A claim that was under way at that moment is not seen yet; the sweep adopts its jobs for
 * some time to come (`store/limits/sweep-limiters.ts`).
 */

export type LimitScope = 'definition' | 'tenant';

const LOCK = statement<{ lock_queues: string }>('lock_queues', 'select longshore.lock_queues()');

export async function lockQueues(tx: Queryable): Promise<void> {
  await tx.run(LOCK);
}

/** A limiter keeps its counters for ever: what holds a token gives it back here, limit or not. */
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

const HANG_DEFINITION = statement<{ queue: number; adopts: boolean }>(
  'hang_definition',
  `update longshore.queue l
   set definition_limiter = case when $3 then longshore.limiter_of('definition', $2) end, keyed = $4
   where l.shard = $1 and l.key = $2
     and ((l.definition_limiter is null) = $3::boolean or l.keyed <> $4::boolean)
   returning l.queue, $3 as adopts`,
);

const HANG_TENANT = statement<{ queue: number; adopts: boolean }>(
  'hang_tenant',
  `update longshore.queue l set tenant_limiter = case when $3 then longshore.limiter_of('tenant', $2) end
   where l.shard = $1 and l.tenant = $2 and left(l.key, 1) <> '$'
     and (l.tenant_limiter is null) = $3::boolean
   returning l.queue, $3 as adopts`,
);

/** Longer than any claim that was under way can take. */
const ADOPT_SECONDS = 120;

const ADOPT_FOR = statement<{ limiter: string }>(
  'adopt_for',
  `update longshore.limiter
   set adopt_until = clock_timestamp() + make_interval(secs => ${ADOPT_SECONDS})
   where shard = $1 and limiter = longshore.limiter_of($2, $3)
   returning limiter::text`,
);

/** Writes the limits of a definition or tenant; says whether they are new. */
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
  const passed = concurrencyLimit !== null || rateLimit !== null || keyRateLimit !== null;
  const keyed = concurrencyKeyLimit !== null || keyRateLimit !== null;
  const hung =
    scope === 'tenant'
      ? await tx.run(HANG_TENANT, [shard, name, passed])
      : await tx.run(HANG_DEFINITION, [shard, name, passed, keyed]);
  if (hung.length > 0 && (passed || keyed)) await tx.run(ADOPT_FOR, [shard, scope, name]);
  return changed.length > 0 || hung.length > 0;
}
