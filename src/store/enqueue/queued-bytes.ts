import { type Db, statement } from '../connection/db.ts';
import { waitingLargeBytes } from '../large/large-values.ts';

/**
 * Estimates the bytes that the params of a tenant's queued jobs take in storage, mostly compressed.
 *
 * An exact sum would read all jobs, and a counter would be one row for which all enqueues and claims of
 * the tenant wait. So a sample of each queue is read: the latest of the least urgent jobs. Params that are
 * stored outside of their row are not fetched. A queue that is no larger than its sample has an exact sum;
 * of a larger one the jobs are counted and multiplied by the average of the sample. A tenant that mixes
 * sizes on purpose can exceed the limit; the limit on the number of jobs still applies.
 *
 * Params in the storage of artifacts are counted by their own table.
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

/** `lookedAtMax` is the sample size per shard. */
export async function queuedBytes(
  db: Db,
  tenant: string,
  lookedAtMax = LOOKED_AT_MAX,
): Promise<number> {
  let bytes = 0;
  for (let shard = 0; shard < db.shards; shard += 1) {
    const [row] = await db.run(QUEUED_BYTES, [shard, tenant, lookedAtMax, COUNTED_MAX]);
    bytes += row?.bytes ?? 0;
    bytes += await waitingLargeBytes(db, shard, tenant, lookedAtMax);
  }
  return bytes;
}
