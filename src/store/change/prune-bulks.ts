import { type Db, statement } from '../connection/db.ts';

const DELETE = statement<{ id: string }>(
  'prune_bulks',
  `with oldest as materialized (
     select id, finished_at from longshore.bulk where finished_at is not null order by id limit $2)
   delete from longshore.bulk where id = any (array(
     select id from oldest where finished_at < clock_timestamp() - make_interval(days => $1)))
   returning id`,
);

const BATCH = 1_000;

/**
 * Deletes the oldest bulk actions that ended before the retention; running ones are kept. What
 * they did stays in the audit log. Returns whether there may be more.
 */
export async function pruneBulks(db: Db, days: number, batch = BATCH): Promise<boolean> {
  return (await db.run(DELETE, [days, batch])).length === batch;
}
