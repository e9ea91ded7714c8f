import type { Release } from '../../core/deployment/release.ts';
import { type Actor, audit } from '../access/audit.ts';
import { type Queryable, statement } from '../connection/db.ts';

export interface StoredRelease extends Release {
  changedBy: string;
  changedAt: Date;
  reason: string | null;
}

const COLUMNS = `tenant, key, current, previous, canary, canary_percent as "canaryPercent",
  changed_by as "changedBy", changed_at as "changedAt", reason`;

const LIST = statement<StoredRelease>(
  'list_releases',
  `select ${COLUMNS} from longshore.release order by tenant, key`,
);

export async function listReleases(db: Queryable): Promise<StoredRelease[]> {
  return await db.run(LIST);
}

/** The deployment that was current before becomes the previous one. A canary ends. */
const PROMOTE = statement<StoredRelease>(
  'promote_release',
  `insert into longshore.release (tenant, key, current, changed_by, reason)
   select $1, k.key, $3, $4, $5 from unnest($2::text[]) as k(key)
   on conflict (tenant, key) do update
     set current = excluded.current, canary = null, canary_percent = null,
       previous = case when release.current = excluded.current then release.previous
         else release.current end,
       changed_by = excluded.changed_by, changed_at = excluded.changed_at, reason = excluded.reason
     where release.current <> excluded.current or release.canary is not null
   returning ${COLUMNS}`,
);

/** A definition without a current deployment gets this one: there is nothing to compare it with. */
const SET_CANARY = statement<StoredRelease>(
  'set_canary',
  `insert into longshore.release (tenant, key, current, changed_by, reason)
   select $1, k.key, $3, $4, $5 from unnest($2::text[]) as k(key)
   on conflict (tenant, key) do update
     set canary = excluded.current, canary_percent = $6::real,
       changed_by = excluded.changed_by, changed_at = excluded.changed_at, reason = excluded.reason
     where release.current <> excluded.current
   returning ${COLUMNS}`,
);

const END_CANARY = statement<StoredRelease>(
  'end_canary',
  `update longshore.release
   set canary = null, canary_percent = null, changed_by = $3, changed_at = clock_timestamp(),
     reason = $4
   where tenant = $1 and canary = $2 and ($5::text[] is null or key = any ($5))
   returning ${COLUMNS}`,
);

const FORGET = statement<{ key: string }>(
  'forget_release',
  'delete from longshore.release where tenant = $1 and current = $2 returning key',
);

export interface ReleaseChange {
  tenant: string;
  number: number;
  keys: readonly string[];
  /** Null: all new jobs get the deployment. */
  canaryPercent: number | null;
  reason: string | null;
}

/** Moves the pointers; returns those that moved. */
export async function changeReleases(
  tx: Queryable,
  by: Actor,
  action: 'deployment.promote' | 'deployment.rollback' | 'deployment.canary',
  { tenant, number, keys, canaryPercent, reason }: ReleaseChange,
): Promise<StoredRelease[]> {
  const values = [tenant, keys, number, by.name, reason];
  const changed =
    canaryPercent === null
      ? await tx.run(PROMOTE, values)
      : await tx.run(SET_CANARY, [...values, canaryPercent]);
  if (changed.length > 0) {
    const after = { definitions: changed.map(({ key }) => key), canaryPercent, reason };
    await audit(tx, by, { tenant, action, subject: String(number), after });
  }
  return changed;
}

export async function endCanary(
  tx: Queryable,
  by: Actor,
  tenant: string,
  number: number,
  reason: string,
  /** Null: of all its definitions. */
  keys: readonly string[] | null = null,
): Promise<StoredRelease[]> {
  const changed = await tx.run(END_CANARY, [tenant, number, by.name, reason, keys]);
  if (changed.length > 0) {
    const action = 'deployment.canary-end';
    const after = { definitions: changed.map(({ key }) => key), reason };
    await audit(tx, by, { tenant, action, subject: String(number), after });
  }
  return changed;
}

/** Definitions whose current deployment this is have no release any more. */
export async function forgetReleases(
  tx: Queryable,
  tenant: string,
  number: number,
): Promise<string[]> {
  return (await tx.run(FORGET, [tenant, number])).map(({ key }) => key);
}
