import {
  changedOverride,
  effectiveLimits,
  LimitError,
  type Limits,
  type LimitsChange,
  type LimitsOverride,
  requireDivisible,
} from '../../core/queue/limits.ts';
import { unknownName } from '../../core/values/nearest.ts';
import { DEFAULT_TENANT } from '../../core/access/scope.ts';
import { type Actor, audited } from '../access/audit.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import type { LimitScope } from './install-limits.ts';
import { enforce, type StoredLimits, readStoredLimits } from './sync-limits.ts';

/** The limits of a definition or tenant, as the API shows them. */
export interface LimitsView {
  name: string;
  /** The limits in force. */
  effective: Limits;
  /** The limits in the code of the highest published version; none for a tenant. */
  code: Limits;
  /** The limits that an operator set; 0 means "no limit". */
  override: LimitsOverride;
  changedBy: string | null;
  changedAt: Date | null;
  /** Running jobs that count against `concurrencyLimit`. */
  inUse: number;
}

const IN_USE = statement<{ name: string; in_use: number }>(
  'limiters_in_use',
  `select n.name, l.in_use from unnest($3::text[]) as n(name)
   cross join lateral (
     select in_use from longshore.limiter
     where shard = $1 and limiter = longshore.limiter_of($2, n.name) limit 1
   ) l`,
);

export async function readLimits(
  db: Db,
  scope: LimitScope,
  names: readonly string[],
): Promise<LimitsView[]> {
  const inUse = new Map<string, number>();
  for (let shard = 0; shard < db.shards; shard += 1) {
    for (const { name, in_use: count } of await db.run(IN_USE, [shard, scope, names])) {
      inUse.set(name, (inUse.get(name) ?? 0) + count);
    }
  }
  const words = await readStoredLimits(db, scope, names);
  return words.map((said) => ({
    ...said,
    effective: effectiveLimits(said.code, said.override),
    inUse: inUse.get(said.name) ?? 0,
  }));
}

const KNOWN_KEYS = statement<{ key: string }>(
  'known_definition_keys',
  'select distinct key from longshore.definition order by key',
);

export class UnknownDefinition extends LimitError {
  override name = 'UnknownDefinition';
}

/** A limit of an unknown definition is refused: it is probably a mistyped name. */
export async function requireDefinition(db: Queryable, key: string): Promise<void> {
  const known = (await db.run(KNOWN_KEYS)).map((row) => row.key);
  if (!known.includes(key)) throw new UnknownDefinition(unknownName('definition', key, known));
}

const SAVE = statement<{ name: string }>(
  'save_override',
  `insert into longshore.limit_override (scope, name, limits, changed_by, changed_at)
   values ($1, $2, $3::jsonb, $4, clock_timestamp())
   on conflict (scope, name) do update set limits = excluded.limits,
     changed_by = excluded.changed_by, changed_at = excluded.changed_at
   returning name`,
);

/**
 * Changes limits at run time. A value replaces that of the code until it is set to null; 0 removes
 * the limit of the code. With a limit below the number of running jobs, no job starts until enough
 * have ended.
 */
export async function changeLimits(
  db: Db,
  scope: LimitScope,
  name: string,
  change: LimitsChange,
  by: Actor | null,
): Promise<LimitsView> {
  if (scope === 'definition') await requireDefinition(db, name);
  const wrong = Object.keys(change).find((field) => field !== 'concurrencyLimit');
  if (scope === 'tenant' && wrong !== undefined) {
    throw new LimitError(unknownName('limit of a tenant', wrong, ['concurrencyLimit']));
  }
  await enforce(db, async (tx) => await save(db, tx, scope, name, change, by), scope);
  const [view] = await readLimits(db, scope, [name]);
  if (!view) throw new Error(`the limits of ${name} were not stored`);
  return view;
}

async function save(
  { shards }: Db,
  tx: Queryable,
  scope: LimitScope,
  name: string,
  change: LimitsChange,
  by: Actor | null,
): Promise<StoredLimits[]> {
  const [said] = await readStoredLimits(tx, scope, [name]);
  if (!said) throw new Error(`the limits of ${name} were not found`);
  const override = changedOverride(said.override, change);
  requireDivisible(effectiveLimits(said.code, override), shards);
  const entry = {
    tenant: scope === 'tenant' ? name : DEFAULT_TENANT,
    action: `${scope}.limits`,
    subject: name,
    before: said.override,
    after: override,
  };
  const values = [scope, name, JSON.stringify(override), by?.name ?? null];
  await audited(
    tx,
    by,
    async () => await tx.run(SAVE, values),
    () => entry,
  );
  return [{ ...said, override }];
}
