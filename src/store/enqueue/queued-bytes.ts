import { type Db, statement } from '../connection/db.ts';

/**
 * How many bytes the params of a tenant's queued jobs take, as they are stored: mostly compressed.
 *
 * A sum of all of them would cost more the more there is, and a counter that every enqueue and claim
 * writes would be the one row that all of a tenant wait for. So some are looked at, a fair share of each
 * queue, the latest of the least urgent; params that lie apart from their row are not even fetched for it.
 * Where a queue has no more than its share the sum is exact; of the rest its jobs are counted, and each
 * is taken for as large as those that were seen. A tenant that mixes sizes on purpose can get past an
 * estimate, and then the limit on the number of its jobs is what holds.
 */
const QUEUED_BYTES = statement<{ bytes: number }>(
  'queued_bytes',
  `with queue as materialized (
     select queue, greatest(10, $3 / count(*) over ()) as share
     from longshore.queue where shard = $1 and tenant = $2
   )
   select coalesce(sum(case when s.jobs < l.share then s.bytes
     else s.bytes / s.jobs * c.jobs end), 0)::float8 as bytes
   from queue l
   cross join lateral (
     select count(*) as jobs, sum(j.bytes)::float8 as bytes
     from (
       select id from longshore.waiting
       where shard = $1 and queue = l.queue and seq is not null
       order by rank desc, seq desc limit l.share
     ) w
     cross join lateral (
       select pg_column_size(params) as bytes from longshore.job
       where shard = $1 and id = w.id limit 1
     ) j
   ) s
   cross join lateral (
     select count(*) as jobs from (
       select 1 from longshore.waiting
       where shard = $1 and queue = l.queue and seq is not null and s.jobs >= l.share limit $4
     ) q
   ) c`,
);

const LOOKED_AT_MAX = 10_000;
const COUNTED_MAX = 1_000_000;

/** `lookedAtMax` is for each shard. */
export async function queuedBytes(
  db: Db,
  tenant: string,
  lookedAtMax = LOOKED_AT_MAX,
): Promise<number> {
  let bytes = 0;
  for (let shard = 0; shard < db.shards; shard += 1) {
    const [row] = await db.run(QUEUED_BYTES, [shard, tenant, lookedAtMax, COUNTED_MAX]);
    bytes += row?.bytes ?? 0;
  }
  return bytes;
}
