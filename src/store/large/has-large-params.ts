import { type Db, statement } from '../connection/db.ts';

const HAS = statement<{ job_id: string }>(
  'has_large_params',
  `select job_id from longshore.large_value
   where shard = $1 and tenant = $2 and kind = 'params' limit 1`,
);

/** Whether any job of the tenant has params in the storage of artifacts. */
export async function hasLargeParams(db: Db, tenant: string): Promise<boolean> {
  for (let shard = 0; shard < db.shards; shard += 1) {
    if ((await db.run(HAS, [shard, tenant])).length > 0) return true;
  }
  return false;
}
