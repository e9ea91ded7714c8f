import { type Queryable, statement } from './db.ts';
import type { LineHint } from './wake.ts';

export interface Promotion {
  /** How many became claimable; as many as the limit means that there may be more. */
  promoted: number;
  lines: LineHint[];
  /** How long until the next one is due; null when none waits for its time. */
  nextDueMs: number | null;
}

/**
 * What is due is decided by the database's clock, and the earliest due gets the earliest place. The
 * clock is compared as a value, not joined: a join would read every job that waits for its time.
 */
const PROMOTE = statement<{ promoted: number; lines: [number, number][]; next_ms: number | null }>(
  'promote',
  `with clock as materialized (select clock_timestamp() as at),
  due as materialized (
    select id, row_number() over (order by run_at) as n
    from (
      select w.id, w.run_at from longshore.waiting w
      where w.shard = $1 and w.state in ('scheduled', 'retrying')
        and w.run_at <= (select at from clock)
      order by w.run_at limit $2
      for update skip locked
    ) w
  ),
  moved as (
    update longshore.waiting w
    set state = 'queued', queued_at = c.at,
        seq = (extract(epoch from c.at) * 1000000)::bigint + d.n
    from due d, clock c
    where w.shard = $1 and w.id = any (array(select id from due)) and w.id = d.id
    returning w.lane, w.rank
  )
  select (select count(*)::int from moved) as promoted,
    coalesce((select json_agg(distinct jsonb_build_array(lane, rank)) from moved), '[]'::json)
      as lines,
    (select (extract(epoch from w.run_at - (select at from clock)) * 1000)::float8
     from longshore.waiting w
     where w.shard = $1 and w.state in ('scheduled', 'retrying')
       and w.run_at > (select at from clock)
     order by w.run_at limit 1) as next_ms`,
);

export async function promote(db: Queryable, shard: number, limit: number): Promise<Promotion> {
  const [row] = await db.run(PROMOTE, [shard, limit]);
  return {
    promoted: row?.promoted ?? 0,
    lines: (row?.lines ?? []).map(([lane, rank]) => ({ shard, lane, rank })),
    nextDueMs: row?.next_ms ?? null,
  };
}
