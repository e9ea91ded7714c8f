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
