import { piece } from '../connection/backend.ts';
import { type Db, statement } from '../connection/db.ts';
import { atCtids, ctidOf, filterOnly } from '../connection/planner.ts';

const DELETE = statement<{ tenant: string }>(
  'prune_usage',
  `delete from longshore.usage_day where ${atCtids(`
     select ${ctidOf('u')} from longshore.usage_day u
     where u.shard = $1 and u.day < (${piece('(select clock_timestamp())', 'clock_timestamp()')} at time zone 'UTC')::date - $2::int
     order by u.day limit $3`)} and ${filterOnly('shard = $1')}
   returning tenant`,
);

const BATCH = 1_000;

/** Deletes days of usage that are past their retention. Returns whether there may be more. */
export async function pruneUsage(db: Db, days: number, batch = BATCH): Promise<boolean> {
  let more = false;
  for (let shard = 0; shard < db.shards; shard += 1) {
    more ||= (await db.run(DELETE, [shard, days, batch])).length === batch;
  }
  return more;
}
