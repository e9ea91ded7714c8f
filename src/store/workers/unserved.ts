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
 * Jobs that shall not wait for a worker to come, and have waited for so long while no live worker
 * has their code. It walks from queue to queue through an index that holds only such jobs, so neither
 * a long line of other jobs nor one that is being served is read. Where no worker comes up by itself,
 * a job of a definition that was never published need not wait at all.
 */
const FIND_UNSERVED = statement<UnservedJob>(
  'find_unserved',
  `with recursive mark as (
    select 0 as queue
    union all
    select (select w.queue from longshore.waiting w
            where w.shard = $1 and w.fails_unhandled and w.state = 'queued' and w.queue > mark.queue
            order by w.queue limit 1)
    from mark where mark.queue is not null
  )
  select j.id, j.claim_no as claim, j.expires_at::text as "expiresAt", l.key, l.version, l.tenant,
    b.traceparent
  from mark
  cross join lateral (
    select l.*, not exists (
        select 1 from longshore.definition d
        where d.key = l.key and d.version = l.version) as unpublished
    from longshore.queue l
    where l.shard = $1 and l.queue = mark.queue and l.paused_at is null
      and ($4::text is null or l.tenant = $4)
      and not exists (
        select 1 from longshore.worker a
        where a.shard = $1 and a.dead_at is null and a.lease_until > clock_timestamp()
          and l.key || '@' || l.version = any (a.definitions))
    limit 1
  ) l
  cross join lateral (
    select * from longshore.waiting w
    where w.shard = $1 and w.queue = l.queue and w.fails_unhandled and w.state = 'queued'
      and w.queued_at <= clock_timestamp() - make_interval(
        secs => case when $5::boolean and l.unpublished then 0 else $2::float8 / 1000 end)
    order by w.queued_at limit $3
  ) j
  left join lateral (
    select traceparent from longshore.job where shard = $1 and id = j.id limit 1
  ) b on true
  limit $3`,
);

/** Which jobs count as unserved. */
export interface UnservedScope {
  /** How long they must have been queued. */
  afterMs: number;
  /** Of this tenant only; null: of all. */
  tenant: string | null;
  /** Those whose definition was never published need not have been queued for so long. */
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
