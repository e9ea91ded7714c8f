import { type Queryable, statement } from '../connection/db.ts';

const COUNT_CLAIMABLE = statement<{ jobs: number }>(
  'count_claimable',
  `select coalesce(sum(c.jobs), 0)::int as jobs
   from unnest($2::int[]) as l(queue)
   cross join lateral (
     select count(*) as jobs from (
       select 1 from longshore.waiting w
       where w.shard = $1 and w.queue = l.queue and w.seq is not null limit $3
     ) w
   ) c`,
);

/** The number of claimable jobs of these queues; each queue is counted up to a bound. */
export async function countClaimable(
  db: Queryable,
  shard: number,
  queues: readonly number[],
  most: number,
): Promise<number> {
  const [row] = await db.run(COUNT_CLAIMABLE, [shard, queues, most]);
  return row?.jobs ?? 0;
}
