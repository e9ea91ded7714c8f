import { type Queryable, statement } from './db.ts';

/**
 * Lanes with jobs that nobody can run: their definition was never published, and every worker
 * publishes what it has loaded. The small jobs of hooks belong to whoever has the definition.
 */
const UNHANDLED_LANES = statement<{ lane: number; key: string; version: number }>(
  'unhandled_lanes',
  `select l.lane, l.key, l.version from longshore.lane l
   where l.shard = $1 and l.paused_at is null
     and not exists (select 1 from longshore.definition d
       where d.key = replace(l.key, '$hook:', '') and d.version = l.version)
     and (select 1 from longshore.waiting w
          where w.shard = $1 and w.lane = l.lane and w.seq is not null limit 1) is not null`,
);

export async function unhandledLanes(
  db: Queryable,
  shard: number,
): Promise<{ lane: number; key: string; version: number }[]> {
  return await db.run(UNHANDLED_LANES, [shard]);
}

const COUNT_CLAIMABLE = statement<{ jobs: number }>(
  'count_claimable',
  `select coalesce(sum(c.jobs), 0)::int as jobs
   from unnest($2::int[]) as l(lane)
   cross join lateral (
     select count(*) as jobs from (
       select 1 from longshore.waiting w
       where w.shard = $1 and w.lane = l.lane and w.seq is not null limit $3
     ) w
   ) c`,
);

/** How many jobs of these lanes could be claimed now; of each lane at most so many are counted. */
export async function countClaimable(
  db: Queryable,
  shard: number,
  lanes: readonly number[],
  most: number,
): Promise<number> {
  const [row] = await db.run(COUNT_CLAIMABLE, [shard, lanes, most]);
  return row?.jobs ?? 0;
}

export interface UnservedJob {
  id: string;
  claim: number;
  expiresAt: string | null;
  key: string;
  version: number;
}

/**
 * Jobs that shall not wait for a worker to come, and have waited for so long while no living worker
 * has their code. It walks from lane to lane through an index that holds only such jobs, so neither
 * a long line of other jobs nor one that is being served is read.
 */
const FIND_UNSERVED = statement<UnservedJob>(
  'find_unserved',
  `with recursive mark as (
    select 0 as lane
    union all
    select (select w.lane from longshore.waiting w
            where w.shard = $1 and w.fails_unhandled and w.state = 'queued' and w.lane > mark.lane
            order by w.lane limit 1)
    from mark where mark.lane is not null
  )
  select j.id, j.claim_no as claim, j.expires_at::text as "expiresAt", l.key, l.version
  from mark
  cross join lateral (
    select * from longshore.lane l
    where l.shard = $1 and l.lane = mark.lane and l.paused_at is null
      and not exists (
        select 1 from longshore.worker a
        where a.shard = $1 and a.dead_at is null and a.lease_until > clock_timestamp()
          and l.key || '@' || l.version = any (a.definitions))
    limit 1
  ) l
  cross join lateral (
    select * from longshore.waiting w
    where w.shard = $1 and w.lane = l.lane and w.fails_unhandled and w.state = 'queued'
      and w.queued_at < clock_timestamp() - make_interval(secs => $2::float8 / 1000)
    order by w.queued_at limit $3
  ) j
  limit $3`,
);

export async function findUnserved(
  db: Queryable,
  shard: number,
  afterMs: number,
  limit: number,
): Promise<UnservedJob[]> {
  return await db.run(FIND_UNSERVED, [shard, afterMs, limit]);
}
