import { type Queryable, statement } from '../connection/db.ts';

const FIND_LEVELS = statement<{ queue: number; rank: number }>(
  'find_levels',
  `select l.queue, r.rank
   from unnest($2::int[]) as l(queue)
   cross join lateral (
     with recursive step as (
       (select w.rank from longshore.waiting w
        where w.shard = $1 and w.queue = l.queue and w.seq is not null
        order by w.rank limit 1)
       union all
       select (select w.rank from longshore.waiting w
               where w.shard = $1 and w.queue = l.queue and w.seq is not null and w.rank > step.rank
               order by w.rank limit 1)
       from step where step.rank is not null
     )
     select step.rank from step where step.rank is not null
   ) r`,
);

/** The levels of these queues that have claimable work: one index probe per level, not a scan. */
export async function findLevels(
  db: Queryable,
  shard: number,
  queues: readonly number[],
): Promise<{ queue: number; rank: number }[]> {
  return queues.length === 0 ? [] : await db.run(FIND_LEVELS, [shard, queues]);
}
