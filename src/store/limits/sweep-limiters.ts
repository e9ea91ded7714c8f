import { NOW_WITHIN } from '../connection/backend.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { ONCE_PER_ROW } from '../connection/planner.ts';
import { permit, COUNT_BLOCKED } from './limiters.ts';
import type { LevelHint } from '../connection/wake.ts';

/**
 * Repairs limiters: gives free permits to blocked jobs when the process that should have done so
 * was killed, and deletes unused limiters of keys. It reads limiters in slices, so that a round
 * with a hundred thousand keys costs no more than one with a thousand. After a limit is set, it
 * counts the jobs that already run.
 */

/**
 * Gives running jobs the permits that their queue requires now, and counts them. A locked job is left
 * for the next round: it may be ending, and waiting for it while holding a limiter could deadlock.
 */
const ADOPT = statement<{ adopted: number }>(
  'adopt',
  `with missing as materialized (
    select r.id from longshore.worker w
    cross join lateral (
      select id, queue, key_limiter, permits from longshore.running r
      where r.shard = $1 and r.worker = w.instance ${ONCE_PER_ROW}
    ) r
    cross join lateral (
      select definition_limiter, tenant_limiter, keyed from longshore.queue where shard = $1 and queue = r.queue limit 1
    ) k
    where w.shard = $1 and (k.definition_limiter <> all (coalesce(r.permits, '{}'))
      or k.tenant_limiter <> all (coalesce(r.permits, '{}'))
      or (k.keyed and r.key_limiter <> all (coalesce(r.permits, '{}'))))
  ),
  held as materialized (
    select r.id, r.permits, r.queue, r.key_limiter from longshore.running r
    where r.shard = $1 and r.id = any (array(select id from missing))
    order by r.id for update skip locked
  ),
  lacking as materialized (
    select h.id, array(
      select t.limiter from (
        select limiter from longshore.limiter
        where shard = $1 and limiter = any (array[k.definition_limiter, k.tenant_limiter])
          and (lim is not null or rate is not null)
        union all
        select h.key_limiter where k.keyed and h.key_limiter is not null
      ) t where t.limiter <> all (coalesce(h.permits, '{}'))
    ) as limiters, h.queue, h.key_limiter
    from held h cross join lateral (
      select definition_limiter, tenant_limiter, keyed from longshore.queue where shard = $1 and queue = h.queue limit 1
    ) k
  ),
  marked as (
    update longshore.running r set permits = coalesce(r.permits, '{}') || l.limiters
    from lacking l
    where r.shard = $1 and r.id = any (array(select id from lacking)) and r.id = l.id
      and cardinality(l.limiters) > 0
    returning r.id, l.limiters, l.queue, l.key_limiter
  ),
  missing_permits as materialized (
    select t.limiter, t.limiter is not distinct from m.key_limiter as of_key, min(m.queue) as queue,
      count(*)::int as n
    from marked m cross join lateral unnest(m.limiters) as t(limiter)
    group by 1, 2
  ),
  held_limiters as materialized (
    select limiter from longshore.limiter
    where shard = $1 and limiter = any (array(select limiter from missing_permits where not of_key))
    order by limiter for update
  ),
  counted as (
    update longshore.limiter l set in_use = l.in_use + t.n
    from missing_permits t
    where l.shard = $1 and l.limiter = any (array(select limiter from held_limiters)) and l.limiter = t.limiter
    returning l.limiter
  ),
  counted_keys as (
    insert into longshore.limiter (shard, limiter, definition, in_use)
    select $1, t.limiter, longshore.limiter_of('definition', (
      select q.key from longshore.queue q where q.shard = $1 and q.queue = t.queue)), t.n
    from missing_permits t where t.of_key and (select count(*) from counted) >= 0
    order by t.limiter
    on conflict (limiter, shard) do update set in_use = limiter.in_use + excluded.in_use
  )
  select count(*)::int as adopted from marked`,
);

/** Counts running jobs against limits that were set since; returns how many it found. */
export async function adopt(db: Queryable, shard: number): Promise<number> {
  const [row] = await db.run(ADOPT, [shard]);
  return row?.adopted ?? 0;
}

/**
 * Blocks jobs that entered their level before their keys were limited, or whose transaction began
 * before and was committed later.
 */
const BLOCK_QUEUED = statement<{ blocked: number; limiters: string[] }>(
  'block_queued',
  `with picked as materialized (
    select w.id from longshore.queue q cross join lateral (
      select w.id from longshore.waiting w
      where w.shard = $1 and w.queue = q.queue and w.key_limiter is not null and w.seq is not null
        and not w.has_permit
      order by w.seq limit $2 for update skip locked
    ) w
    where q.shard = $1 and q.keyed
    limit $2
  ),
  entered as (
    update longshore.waiting w set blocked = w.seq, seq = null
    where w.shard = $1 and w.id = any (array(select id from picked))
    returning w.key_limiter, w.queue, w.blocked
  ),
  ${COUNT_BLOCKED}
  select (select count(*)::int from entered) as blocked,
    array(select limiter::text from counted) as limiters`,
);

const ADOPTING = statement<{ limiter: string }>(
  'find_adopting',
  `select limiter::text from longshore.limiter
   where shard = $1 and adopt_until is not null and adopt_until > '-infinity'
   order by adopt_until limit 100`,
);

const ADOPTED = statement<{ limiter: string }>(
  'end_adopting',
  `update longshore.limiter set adopt_until = null
   where shard = $1 and limiter = any ($2::bigint[])
     and coalesce(adopt_until < ${NOW_WITHIN}, false)
   returning limiter::text`,
);

const STUCK = statement<{ limiters: string[]; last: string | null }>(
  'find_stuck_limiters',
  `with slice as materialized (
    select limiter, in_use, definition, next_at from longshore.limiter
    where shard = $1 and blocked > 0 and limiter > $2::bigint order by limiter limit $3
  )
  select array(
      select s.limiter::text from slice s left join lateral (
        select key_lim from longshore.limiter d where d.shard = $1 and d.limiter = s.definition limit 1
      ) d on true
      where s.next_at is null and (d.key_lim is null or s.in_use < d.key_lim)) as limiters,
    (select max(limiter)::text from slice having count(*) = $3) as last`,
);

/** The used tokens of a rate must be kept, so its limiters stay until their bucket is full. */
const FORGET = statement<{ last: string | null }>(
  'forget_limiters',
  `with slice as materialized (
    select limiter from longshore.limiter where shard = $1 and limiter > $2::bigint order by limiter limit $3
  ),
  idle as materialized (
    select k.limiter from longshore.limiter k
    where k.shard = $1 and k.limiter = any (array(select limiter from slice))
      and k.definition is not null and k.in_use = 0 and k.blocked = 0
      and not exists (
        select 1 from longshore.limiter d
        where d.shard = $1 and d.limiter = k.definition and k.tokens is not null
          and longshore.tokens_at(d.key_rate, k.tokens, k.refilled_at, clock_timestamp())
            < (d.key_rate ->> 'burst')::float8)
    order by k.limiter for update of k skip locked
  ),
  gone as (
    delete from longshore.limiter
    where shard = $1 and limiter = any (array(select limiter from idle)) and in_use = 0 and blocked = 0
  )
  select (select max(limiter)::text from slice having count(*) = $3) as last`,
);

/** The row of a limit stays when the limit is removed, so without one there is nothing to repair. */
const FIRST = statement<{ first: string }>(
  'first_limiter',
  `select limiter::text as first from longshore.limiter
   where shard = $1 and limiter > $2::bigint order by limiter limit $3`,
);

/** Whether there may be something to sweep. */
export async function hasLimiters(db: Queryable, shard: number): Promise<boolean> {
  return (await db.run(FIRST, [shard, SWEEP_START.idle, 1])).length > 0;
}

/** How far the last rounds came; the next one continues there. */
export interface SweepCursor {
  stuck: string;
  idle: string;
}

export const SWEEP_START: SweepCursor = { stuck: '0', idle: '0' };
export const NOTHING_TO_SWEEP: Swept = { cursor: SWEEP_START, levels: [], more: false };

export interface Swept {
  cursor: SweepCursor;
  levels: LevelHint[];
  /** Whether there is so much to do that the next round should come at once. */
  more: boolean;
}

/** One round, with slices of at most `size`. */
export async function sweepLimiters(
  db: Queryable,
  shard: number,
  cursor: SweepCursor,
  size: number,
): Promise<Swept> {
  const adopting = (await db.run(ADOPTING, [shard])).map(({ limiter }) => limiter);
  if (adopting.length > 0) {
    await adopt(db, shard);
    await db.run(ADOPTED, [shard, adopting]);
  }
  const [lined] = await db.run(BLOCK_QUEUED, [shard, size]);
  const [stuck] = await db.run(STUCK, [shard, cursor.stuck, size]);
  const { levels } = await permit(db, shard, [
    ...(lined?.limiters ?? []),
    ...(stuck?.limiters ?? []),
  ]);
  const more = lined?.blocked === size || levels.length > 0;
  const [idle] = await db.run(FORGET, [shard, cursor.idle, size]);
  return { cursor: { stuck: stuck?.last ?? '0', idle: idle?.last ?? '0' }, levels, more };
}
