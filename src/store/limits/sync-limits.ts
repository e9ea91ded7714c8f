import { DEFAULT_TENANT } from '../../core/access/scope.ts';
import {
  effectiveLimits,
  isLimited,
  type Limits,
  type LimitsOverride,
  NO_LIMITS,
  requireDivisible,
  shareOf,
} from '../../core/queue/limits.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import { installLimits, type LimitScope, lockQueues } from './install-limits.ts';
import {
  type AskedSpread,
  askSpreads,
  findDifferentSpreads,
  fixSpreads,
} from '../enqueue/spreads.ts';
import { adopt } from './sweep-limiters.ts';
import { QUEUES_CHANGED, sendWakeHint } from '../connection/wake.ts';

/** The limits in the code, and those that an operator set. */
export interface StoredLimits {
  name: string;
  code: Limits;
  override: LimitsOverride;
  changedBy: string | null;
  changedAt: Date | null;
}

interface StoredLimitsRow {
  name: string;
  code: Partial<Limits> | null;
  override: LimitsOverride | null;
  changed_by: string | null;
  changed_at: Date | null;
}

/**
 * The limits of a definition are those of its release, else of its highest version. In the order in
 * which limiters are locked.
 */
const READ_STORED = statement<StoredLimitsRow>(
  'read_stored_limits',
  `select n.name, d.code, o.limits as override, o.changed_by, o.changed_at
   from unnest($2::text[]) as n(name)
   left join lateral (
     select d.info -> 'limits' as code from longshore.definition d
     left join longshore.release r on r.key = d.key and r.tenant = d.tenant
     where $1 = 'definition' and d.key = n.name and d.tenant = '${DEFAULT_TENANT}'
       and (d.deployment is null or d.deployment = r.current)
     order by d.version = r.current desc nulls last, d.version desc limit 1
   ) d on true
   left join longshore.limit_override o on o.scope = $1 and o.name = n.name
   order by longshore.limiter_of($1, n.name)`,
);

export async function readStoredLimits(
  db: Queryable,
  scope: LimitScope,
  names: readonly string[],
): Promise<StoredLimits[]> {
  const rows = await db.run(READ_STORED, [scope, names]);
  return rows.map(({ name, code, override, changed_by: by, changed_at: at }) => ({
    name,
    code: { ...NO_LIMITS, ...code },
    override: override ?? {},
    changedBy: by,
    changedAt: at,
  }));
}

const HAVE_LIMITERS = statement<{ name: string }>(
  'have_limiters',
  `select n.name from unnest($3::text[]) as n(name)
   cross join lateral (
     select 1 from longshore.limiter
     where shard = $1 and limiter = longshore.limiter_of($2, n.name) limit 1
   ) l`,
);

/**
 * Applies the limits of definitions that a worker has just published. Definitions without limits
 * cost two queries. A shard that does not answer is noticed before the lock of queues is taken.
 */
export async function syncLimits(
  db: Db,
  keys: readonly string[],
  shards = allShards(db),
): Promise<void> {
  const known = new Set<string>();
  for (const shard of shards) {
    for (const { name } of await db.run(HAVE_LIMITERS, [shard, 'definition', keys]))
      known.add(name);
  }
  const stored = await readStoredLimits(db, 'definition', keys);
  await syncSpreads(db, stored);
  const limited = stored.filter(
    ({ name, code, override }) => known.has(name) || isLimited(effectiveLimits(code, override)),
  );
  if (limited.length === 0) return;
  const names = limited.map(({ name }) => name);
  const read = async (tx: Queryable) => await readStoredLimits(tx, 'definition', names);
  await enforce(db, read, 'definition', shards);
}

/** Most starts of a worker change no spread, and lock nothing. */
async function syncSpreads(db: Db, stored: readonly StoredLimits[]): Promise<void> {
  if (db.shards === 1) return;
  const different = await findDifferentSpreads(db, stored.map(askedSpread));
  if (different.length === 0) return;
  const names = different.map(({ key }) => key);
  await db.transaction(async (tx) => {
    await lockQueues(tx);
    const now = await readStoredLimits(tx, 'definition', names);
    await askSpreads(tx, now.map(askedSpread));
  });
  await fixSpreads(db);
}

function askedSpread({ name, code, override }: StoredLimits): AskedSpread {
  return { key: name, spread: effectiveLimits(code, override).spread ?? 1 };
}

/**
 * A shard that does not answer must not hold the lock of queues for long. Set after the lock: who
 * waits for it waits longer than another may hold it.
 */
const TIMEOUT = statement<{ set_config: string }>(
  'limits_timeout',
  `select set_config('statement_timeout', '3000', true)`,
);

function allShards({ shards }: Db): number[] {
  return Array.from({ length: shards }, (_, shard) => shard);
}

/**
 * Applies the limits that `read` returns in the transaction, where no other process changes
 * limits. Then it notifies workers.
 */
export async function enforce(
  db: Db,
  read: (tx: Queryable) => Promise<readonly StoredLimits[]>,
  scope: LimitScope,
  shards = allShards(db),
): Promise<void> {
  const spreads = scope === 'definition' && db.shards > 1;
  const changed = await db.transaction(async (tx) => {
    await lockQueues(tx);
    if (db.shards > 1) await tx.run(TIMEOUT);
    let changedAny = false;
    const stored = await read(tx);
    if (spreads) await askSpreads(tx, stored.map(askedSpread));
    for (const { name, code, override } of stored) {
      const limits = effectiveLimits(code, override);
      requireDivisible(limits, db.shards);
      for (const shard of shards) {
        if (!isLimited(limits) && (await hasNoLimiter(tx, shard, scope, name))) continue;
        const share = shareOf(limits, shard, db.shards);
        if (await installLimits(tx, shard, scope, name, share)) changedAny = true;
      }
    }
    if (changedAny) for (const shard of shards) await adopt(tx, shard);
    return changedAny;
  });
  if (spreads) await fixSpreads(db);
  if (changed) await notifyWorkers(db, shards);
}

/** A definition whose limits were only lifted, or which is only spread, needs no limiter. */
async function hasNoLimiter(
  tx: Queryable,
  shard: number,
  scope: LimitScope,
  name: string,
): Promise<boolean> {
  return (await tx.run(HAVE_LIMITERS, [shard, scope, [name]])).length === 0;
}

/** A hint; each worker also polls its queues. */
export async function notifyWorkers(db: Db, shards = allShards(db)): Promise<void> {
  const hints = shards.map((shard) => ({ shard, queue: QUEUES_CHANGED, rank: 0 }));
  await sendWakeHint(db, hints).catch(() => undefined);
}
