import { DEFAULT_TENANT } from '../../core/access/scope.ts';
import { audit } from '../access/audit.ts';
import { type Db, statement } from '../connection/db.ts';

const DELETE = statement<{ id: string }>(
  'prune_audit',
  `with oldest as materialized (select id, at from longshore.audit order by id limit $2)
   delete from longshore.audit where id = any (array(
     select id from oldest where at < clock_timestamp() - make_interval(days => $1)))
   returning id`,
);

const BATCH = 1_000;
const BY = { name: 'retention', address: null };

/**
 * Deletes the oldest entries that are past their retention, and writes an entry about it. The
 * database refuses to delete entries younger than 30 days. Returns whether there may be more.
 */
export async function pruneAudit(db: Db, days: number, batch = BATCH): Promise<boolean> {
  return await db.transaction(async (tx) => {
    const entries = (await tx.run(DELETE, [days, batch])).length;
    const entry = { tenant: DEFAULT_TENANT, action: 'audit.prune', subject: 'audit' };
    if (entries > 0) await audit(tx, BY, { ...entry, after: { entries, olderThanDays: days } });
    return entries === batch;
  });
}
