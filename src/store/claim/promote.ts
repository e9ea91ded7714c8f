import { type Queryable, statement } from '../connection/db.ts';
import { permit, COUNT_BLOCKED, blocks } from '../limits/limiters.ts';
import { moves, counters } from '../counters/counter-moves.ts';
import { markTimeouts } from './mark-timeouts.ts';
import { routeJobs } from './route-jobs.ts';
import type { LevelHint } from '../connection/wake.ts';

export interface Promotion {
  /** How many are queued now: claimable, or blocked by their key. */
  promoted: number;
  /** Whether more may be due than were moved. */
  more: boolean;
  levels: LevelHint[];
  /** How long until the next one is due, or a key has its next start; null when none waits for that. */
  nextDueMs: number | null;
  /** Jobs have ended for which others wait (`store/edges/resolve-ended.ts`). */
  ended: boolean;
}

/**
 * What is due is decided by the database's clock, and the earliest due gets the earliest place. The
 * clock is compared as a value, not joined: a join would read every job that waits for its time.
 *
 * When very many are due at once, most of them of one queue, the others must not wait behind them.
 * So a quarter of each batch is taken from the other end: jobs that became due only just now, of
 * queues that the earliest ones do not belong to. Within its queue every job still goes by its time.
 *
 * Keys whose rate has a start again are due as well.
 *
 * A suspended job that is due has waited in vain. It is marked afterwards (`mark-timeouts.ts`).
 *
 * Jobs in queues of version 0 get their version afterwards (`route-jobs.ts`).
 */
const PROMOTE = statement<{
  promoted: number;
  more: boolean;
  levels: [number, number][];
  next_ms: number | null;
  limiters: string[];
  unversioned: number[];
  timeouts: [id: string, signal: string][];
  ended: boolean;
}>(
  'promote',
  `with clock as materialized (select clock_timestamp() as at),
  earliest as materialized (
    select w.id, w.state, w.run_at, w.queue, w.key_limiter, w.waits_for
    from longshore.waiting w
    where w.shard = $1 and w.state in ('scheduled', 'retrying', 'suspended')
      and w.run_at <= (select at from clock)
    order by w.run_at limit $2 - $2 / 4
    for update skip locked
  ),
  latest as materialized (
    select w.id, w.state, w.run_at, w.queue, w.key_limiter, w.waits_for
    from longshore.waiting w
    where w.shard = $1 and w.state in ('scheduled', 'retrying', 'suspended')
      and w.run_at <= (select at from clock)
      and (select count(*) from earliest) = $2 - $2 / 4
    order by w.run_at desc limit $2 / 4
    for update skip locked
  ),
  due as materialized (
    select w.id, w.queue, w.state, w.waits_for, ${blocks('w')} as blocks,
      (extract(epoch from c.at) * 1000000)::bigint + row_number() over (order by w.run_at) as place
    from clock c, (
      select * from earliest
      union all
      select * from latest where queue <> all (array(select queue from earliest))
    ) w
  ),
  entered as (
    update longshore.waiting w
    set state = 'queued', queued_at = c.at, seq = case when not d.blocks then d.place end,
      blocked = case when d.blocks then d.place end, waits_for = null
    from due d, clock c
    where w.shard = $1 and w.id = any (array(select id from due)) and w.id = d.id
    returning w.queue, w.rank, w.key_limiter, w.blocked
  ),
  ${COUNT_BLOCKED}, ${counters(moves('state', "'queued'", 'due'))},
  opening as materialized (
    select limiter from longshore.limiter
    where shard = $1 and next_at <= (select at from clock) order by next_at limit $2
  )
  select (select count(*)::int from entered) as promoted,
    (select count(*) from earliest) = $2 - $2 / 4 or (select count(*) from opening) = $2 as more,
    coalesce((select json_agg(distinct jsonb_build_array(queue, rank)) from entered
      where blocked is null), '[]'::json) as levels,
    array(select q.queue from longshore.queue q where q.shard = $1 and q.version = 0
      and q.queue = any (array(select distinct queue from entered))) as unversioned,
    coalesce((select json_agg(json_build_array(id, waits_for)) from due
      where state = 'suspended'), '[]'::json) as timeouts,
    exists (select 1 from longshore.ended_watched e where e.shard = $1) as ended,
    array(select limiter::text from counted union select limiter::text from opening) as limiters,
    (extract(epoch from least(
      (select w.run_at from longshore.waiting w
       where w.shard = $1 and w.state in ('scheduled', 'retrying', 'suspended')
         and w.run_at > (select at from clock)
       order by w.run_at limit 1),
      (select g.next_at from longshore.limiter g
       where g.shard = $1 and g.next_at > (select at from clock) order by g.next_at limit 1)
      ) - (select at from clock)) * 1000)::float8 as next_ms`,
);

export async function promote(db: Queryable, shard: number, limit: number): Promise<Promotion> {
  const [row] = await db.run(PROMOTE, [shard, limit]);
  const { levels, nextMs } = await permit(db, shard, row?.limiters ?? []);
  const routed = await routeJobs(db, shard, row?.unversioned ?? []);
  await markTimeouts(db, shard, row?.timeouts ?? []);
  const nexts = [row?.next_ms ?? null, nextMs].filter((ms) => ms !== null);
  return {
    promoted: row?.promoted ?? 0,
    more: row?.more ?? false,
    ended: row?.ended ?? false,
    levels: [
      ...(row?.levels ?? []).map(([queue, rank]) => ({ shard, queue, rank })),
      ...levels,
      ...routed,
    ],
    nextDueMs: nexts.length > 0 ? Math.min(...nexts) : null,
  };
}
