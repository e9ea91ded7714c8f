import { type Queryable, statement } from '../connection/db.ts';

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
