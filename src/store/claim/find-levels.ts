import { type Queryable, statement } from '../connection/db.ts';

const FIND_LINES = statement<{ lane: number; rank: number }>(
  'find_lines',
  `select l.lane, r.rank
   from unnest($2::int[]) as l(lane)
   cross join lateral (
     with recursive step as (
       (select w.rank from longshore.waiting w
        where w.shard = $1 and w.lane = l.lane and w.seq is not null
        order by w.rank limit 1)
       union all
       select (select w.rank from longshore.waiting w
               where w.shard = $1 and w.lane = l.lane and w.seq is not null and w.rank > step.rank
               order by w.rank limit 1)
       from step where step.rank is not null
     )
     select step.rank from step where step.rank is not null
   ) r`,
);

/** The lines of these lanes that have claimable work: one index probe per line, not a scan. */
export async function findLines(
  db: Queryable,
  shard: number,
  lanes: readonly number[],
): Promise<{ lane: number; rank: number }[]> {
  return lanes.length === 0 ? [] : await db.run(FIND_LINES, [shard, lanes]);
}
