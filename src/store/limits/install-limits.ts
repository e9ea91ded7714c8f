import type { Limits } from '../../core/queue/limits.ts';
import { type Queryable, statement } from '../connection/db.ts';

/**
 * How limits come into force in one shard. The caller's transaction holds the lock of `lockLanes`, so
 * no lane is made meanwhile that would not know of them. Every claim that begins after the commit
 * passes the gate.
 *
 * Jobs may run already when a limit is set for the first time. They are *adopted*: each gets a token of
 * the gate, which may then have more out than it allows, so that nothing new starts until enough of
 * them ended. A claim that was under way at that moment is not seen yet; the sweep adopts its jobs for
 * some time to come (`store/limits/sweep-limiters.ts`).
 */

export type LimitScope = 'definition' | 'tenant';

const LOCK = statement<{ lock_lanes: string }>('lock_lanes', 'select longshore.lock_lanes()');

export async function lockLanes(tx: Queryable): Promise<void> {
  await tx.run(LOCK);
}

/** A gate keeps its counters for ever: what holds a token gives it back here, limit or not. */
const PUT_GATE = statement<{ gate: string }>(
  'put_gate',
  `insert into longshore.gate (shard, gate, name, lim, rate, key_lim, key_rate)
   values ($1, longshore.gate_of($2, $3), $2 || ' ' || $3, $4, $5::jsonb, $6, $7::jsonb)
   on conflict (gate, shard) do update
     set lim = excluded.lim, rate = excluded.rate, key_lim = excluded.key_lim,
       key_rate = excluded.key_rate
     where (gate.lim, gate.rate, gate.key_lim, gate.key_rate)
       is distinct from (excluded.lim, excluded.rate, excluded.key_lim, excluded.key_rate)
   returning gate::text`,
);

const HANG_DEFINITION = statement<{ lane: number; adopts: boolean }>(
  'hang_definition',
  `update longshore.lane l
   set dgate = case when $3 then longshore.gate_of('definition', $2) end, keyed = $4
   where l.shard = $1 and l.key = $2
     and ((l.dgate is null) = $3::boolean or l.keyed <> $4::boolean)
   returning l.lane, $3 as adopts`,
);

const HANG_TENANT = statement<{ lane: number; adopts: boolean }>(
  'hang_tenant',
  `update longshore.lane l set tgate = case when $3 then longshore.gate_of('tenant', $2) end
   where l.shard = $1 and l.tenant = $2 and left(l.key, 1) <> '$'
     and (l.tgate is null) = $3::boolean
   returning l.lane, $3 as adopts`,
);

/** Longer than any claim that was under way can take. */
const ADOPT_SECONDS = 120;

const ADOPT_FOR = statement<{ gate: string }>(
  'adopt_for',
  `update longshore.gate
   set adopt_until = clock_timestamp() + make_interval(secs => ${ADOPT_SECONDS})
   where shard = $1 and gate = longshore.gate_of($2, $3)
   returning gate::text`,
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
  const changed = await tx.run(PUT_GATE, [
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
