import { type Queryable, statement } from '../connection/db.ts';
import { admit, COUNT_PARKED } from './limiters.ts';
import type { LineHint } from '../connection/wake.ts';

/**
 * The net under the gates. Most of what it does finds nothing to do: it gives a free token to a job
 * that waits for it, when whoever should have done so was killed; and it removes gates of keys that
 * nobody uses. It reads gates in slices, so that a hundred thousand keys cost a round no more than a
 * thousand. After a limit was set it also brings order into what was there before.
 */

/**
 * Running jobs without the tokens that their lane asks for get them, and are counted. A job that
 * somebody has locked is left for the next round: it may be ending, and to wait for it while holding
 * a gate could mean to wait for ever.
 */
const ADOPT = statement<{ adopted: number }>(
  'adopt',
  `with missing as materialized (
    select r.id from longshore.worker w
    cross join lateral (
      select id, lane, kgate, tokens from longshore.running r
      where r.shard = $1 and r.worker = w.instance offset 0
    ) r
    cross join lateral (
      select dgate, tgate, keyed from longshore.lane where shard = $1 and lane = r.lane limit 1
    ) k
    where w.shard = $1 and (k.dgate <> all (coalesce(r.tokens, '{}'))
      or k.tgate <> all (coalesce(r.tokens, '{}'))
      or (k.keyed and r.kgate <> all (coalesce(r.tokens, '{}'))))
  ),
  held as materialized (
    select r.id, r.tokens, r.lane, r.kgate from longshore.running r
    where r.shard = $1 and r.id = any (array(select id from missing))
    order by r.id for update skip locked
  ),
  lacking as materialized (
    select h.id, array(
      select t.gate from (
        select g.gate from longshore.gate g
        where g.shard = $1 and g.gate = any (array[k.dgate, k.tgate])
          and (g.lim is not null or g.rate is not null)
        union all
        select h.kgate where k.keyed and h.kgate is not null
      ) t where t.gate <> all (coalesce(h.tokens, '{}'))
    ) as gates, h.lane, h.kgate
    from held h cross join lateral (
      select dgate, tgate, keyed from longshore.lane where shard = $1 and lane = h.lane limit 1
    ) k
  ),
  marked as (
    update longshore.running r set tokens = coalesce(r.tokens, '{}') || l.gates
    from lacking l
    where r.shard = $1 and r.id = any (array(select id from lacking)) and r.id = l.id
      and cardinality(l.gates) > 0
    returning r.id, l.gates, l.lane, l.kgate
  ),
  tokens as materialized (
    select t.gate, t.gate is not distinct from m.kgate as of_key, min(m.lane) as lane,
      count(*)::int as n
    from marked m cross join lateral unnest(m.gates) as t(gate)
    group by 1, 2
  ),
  held_gates as materialized (
    select gate from longshore.gate
    where shard = $1 and gate = any (array(select gate from tokens where not of_key))
    order by gate for update
  ),
  counted as (
    update longshore.gate g set in_use = g.in_use + t.n
    from tokens t
    where g.shard = $1 and g.gate = any (array(select gate from held_gates)) and g.gate = t.gate
    returning g.gate
  ),
  counted_keys as (
    insert into longshore.gate (shard, gate, definition, in_use)
    select $1, t.gate, longshore.gate_of('definition', (
      select l.key from longshore.lane l where l.shard = $1 and l.lane = t.lane)), t.n
    from tokens t where t.of_key and (select count(*) from counted) >= 0
    order by t.gate
    on conflict (gate, shard) do update set in_use = gate.in_use + excluded.in_use
  )
  select count(*)::int as adopted from marked`,
);

/** Counts what runs already against limits that were set since; says how many jobs it found. */
export async function adopt(db: Queryable, shard: number): Promise<number> {
  const [row] = await db.run(ADOPT, [shard]);
  return row?.adopted ?? 0;
}

/**
 * Jobs that came into their line before keys were limited go through the gates of their keys. So do
 * those whose transaction began before and was committed ever so much later.
 */
const PARK_LINED = statement<{ parked: number; gates: string[] }>(
  'park_lined',
  `with picked as materialized (
    select w.id from longshore.lane l cross join lateral (
      select w.id from longshore.waiting w
      where w.shard = $1 and w.lane = l.lane and w.kgate is not null and w.seq is not null
        and not w.key_token
      order by w.seq limit $2 for update skip locked
    ) w
    where l.shard = $1 and l.keyed
    limit $2
  ),
  entered as (
    update longshore.waiting w set parked = w.seq, seq = null
    where w.shard = $1 and w.id = any (array(select id from picked))
    returning w.kgate, w.lane, w.parked
  ),
  ${COUNT_PARKED}
  select (select count(*)::int from entered) as parked,
    array(select gate::text from counted) as gates`,
);

const ADOPTING = statement<{ gate: string }>(
  'find_adopting',
  `select gate::text from longshore.gate
   where shard = $1 and adopt_until is not null and adopt_until > '-infinity'
   order by adopt_until limit 100`,
);

const ADOPTED = statement<{ gate: string }>(
  'end_adopting',
  `update longshore.gate set adopt_until = null
   where shard = $1 and gate = any ($2::bigint[])
     and coalesce(adopt_until < clock_timestamp(), false)
   returning gate::text`,
);

const STUCK = statement<{ gates: string[]; last: string | null }>(
  'find_stuck_gates',
  `with slice as materialized (
    select gate, in_use, definition, next_at from longshore.gate
    where shard = $1 and parked > 0 and gate > $2::bigint order by gate limit $3
  )
  select array(
      select s.gate::text from slice s left join lateral (
        select key_lim from longshore.gate d where d.shard = $1 and d.gate = s.definition limit 1
      ) d on true
      where s.next_at is null and (d.key_lim is null or s.in_use < d.key_lim)) as gates,
    (select max(gate)::text from slice having count(*) = $3) as last`,
);

/** What a rate has used up must not be forgotten, so its gates stay until their bucket is full. */
const FORGET = statement<{ last: string | null }>(
  'forget_gates',
  `with slice as materialized (
    select gate from longshore.gate where shard = $1 and gate > $2::bigint order by gate limit $3
  ),
  idle as materialized (
    select k.gate from longshore.gate k
    where k.shard = $1 and k.gate = any (array(select gate from slice))
      and k.definition is not null and k.in_use = 0 and k.parked = 0
      and not exists (
        select 1 from longshore.gate d
        where d.shard = $1 and d.gate = k.definition and k.tokens is not null
          and longshore.tokens_at(d.key_rate, k.tokens, k.refilled_at, clock_timestamp())
            < (d.key_rate ->> 'burst')::float8)
    order by k.gate for update of k skip locked
  ),
  gone as (
    delete from longshore.gate
    where shard = $1 and gate = any (array(select gate from idle)) and in_use = 0 and parked = 0
  )
  select (select max(gate)::text from slice having count(*) = $3) as last`,
);

/** How far the last rounds came; a sweep goes on from there. */
export interface SweepPlace {
  stuck: string;
  idle: string;
}

export const SWEEP_START: SweepPlace = { stuck: '0', idle: '0' };

export interface Swept {
  place: SweepPlace;
  lines: LineHint[];
  /** Whether it found so much to do that the next round should come at once. */
  more: boolean;
}

/** One round: a slice of at most `size` of everything. */
export async function sweepGates(
  db: Queryable,
  shard: number,
  place: SweepPlace,
  size: number,
): Promise<Swept> {
  const adopting = (await db.run(ADOPTING, [shard])).map(({ gate }) => gate);
  if (adopting.length > 0) {
    await adopt(db, shard);
    await db.run(ADOPTED, [shard, adopting]);
  }
  const [lined] = await db.run(PARK_LINED, [shard, size]);
  const [stuck] = await db.run(STUCK, [shard, place.stuck, size]);
  const { lines } = await admit(db, shard, [...(lined?.gates ?? []), ...(stuck?.gates ?? [])]);
  const more = lined?.parked === size || lines.length > 0;
  const [idle] = await db.run(FORGET, [shard, place.idle, size]);
  return { place: { stuck: stuck?.last ?? '0', idle: idle?.last ?? '0' }, lines, more };
}
