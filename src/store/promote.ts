import { type Queryable, statement } from './db.ts';
import type { LineHint } from './wake.ts';

export interface Promotion {
  /** How many became claimable. */
  promoted: number;
  /** Whether more may be due than were moved. */
  more: boolean;
  lines: LineHint[];
  /** How long until the next one is due; null when none waits for its time. */
  nextDueMs: number | null;
}

/**
 * What is due is decided by the database's clock, and the earliest due gets the earliest place. The
 * clock is compared as a value, not joined: a join would read every job that waits for its time.
 *
 * When very many are due at once, most of them of one lane, the others must not wait behind them.
 * So a quarter of each batch is taken from the other end: jobs that became due only just now, of
 * lanes that the earliest ones do not belong to. Within its lane every job still goes by its time.
 */
const PROMOTE = statement<{
  promoted: number;
  more: boolean;
  lines: [number, number][];
  next_ms: number | null;
}>(
  'promote',
  `with clock as materialized (select clock_timestamp() as at),
  earliest as materialized (
    select w.id, w.run_at, w.lane from longshore.waiting w
    where w.shard = $1 and w.state in ('scheduled', 'retrying')
      and w.run_at <= (select at from clock)
    order by w.run_at limit $2 - $2 / 4
    for update skip locked
  ),
  latest as materialized (
    select w.id, w.run_at, w.lane from longshore.waiting w
    where w.shard = $1 and w.state in ('scheduled', 'retrying')
      and w.run_at <= (select at from clock)
      and (select count(*) from earliest) = $2 - $2 / 4
    order by w.run_at desc limit $2 / 4
    for update skip locked
  ),
  due as materialized (
    select id, row_number() over (order by run_at) as n
    from (
      select id, run_at from earliest
      union all
      select id, run_at from latest where lane <> all (array(select lane from earliest))
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
    (select count(*) from earliest) = $2 - $2 / 4 as more,
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
    more: row?.more ?? false,
    lines: (row?.lines ?? []).map(([lane, rank]) => ({ shard, lane, rank })),
    nextDueMs: row?.next_ms ?? null,
  };
}
