import { type Queryable, statement } from '../connection/db.ts';

export interface UnservedJob {
  id: string;
  claim: number;
  expiresAt: string | null;
  key: string;
  version: number;
  tenant: string;
  traceparent: string | null;
}

/**
 * Unserved jobs that fail instead of waiting: no live worker has had their definition for a while.
 * It goes from queue to queue through an index that holds only such jobs, so it reads neither
 * other jobs nor served queues. Where no worker starts by itself, a job of an unpublished
 * definition fails at once.
 */
const FIND_UNSERVED = statement<UnservedJob>(
  'find_unserved',
  `with recursive mark as (
    select 0 as queue
    union all
    select (select w.queue from longshore.waiting w
            where w.shard = $1 and w.fails_unserved and w.state = 'queued' and w.queue > mark.queue
            order by w.queue limit 1)
    from mark where mark.queue is not null
  )
  select j.id, j.claim_no as claim, j.expires_at::text as "expiresAt", q.key, q.version, q.tenant,
    b.traceparent
  from mark
  cross join lateral (
    select q.*, not exists (
        select 1 from longshore.definition d
        where d.key = q.key and d.version = q.version) as unpublished
    from longshore.queue q
    where q.shard = $1 and q.queue = mark.queue and q.paused_at is null
      and ($4::text is null or q.tenant = $4)
      and not exists (
        select 1 from longshore.worker a
        where a.shard = $1 and a.dead_at is null and a.lease_until > clock_timestamp()
          and q.key || '@' || q.version = any (a.definitions))
    limit 1
  ) q
  cross join lateral (
    select * from longshore.waiting w
    where w.shard = $1 and w.queue = q.queue and w.fails_unserved and w.state = 'queued'
      and w.queued_at <= clock_timestamp() - make_interval(
        secs => case when $5::boolean and q.unpublished then 0 else $2::float8 / 1000 end)
    order by w.queued_at limit $3
  ) j
  left join lateral (
    select traceparent from longshore.job where shard = $1 and id = j.id limit 1
  ) b on true
  limit $3`,
);

/** Which jobs fail as unserved. */
export interface UnservedScope {
  /** Minimum time in state `queued`. */
  afterMs: number;
  /** Null for all tenants. */
  tenant: string | null;
  /** Jobs of unpublished definitions fail without the wait. */
  unpublishedAtOnce: boolean;
}

export async function findUnserved(
  db: Queryable,
  shard: number,
  { afterMs, tenant, unpublishedAtOnce }: UnservedScope,
  limit: number,
): Promise<UnservedJob[]> {
  return await db.run(FIND_UNSERVED, [shard, afterMs, limit, tenant, unpublishedAtOnce]);
}
