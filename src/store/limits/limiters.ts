import { type Queryable, statement } from '../connection/db.ts';
import type { LineHint } from '../connection/wake.ts';

/**
 * Concurrency keys, and how tokens travel. A job whose key is limited gets a token when it enters its
 * line, and whoever ends the job hands it on. That is done in two steps, because a statement sees
 * the database as it was when it began, which may be before it got the lock of a gate:
 *
 * 1. The statement that changes jobs also changes the counters of their gates, and says which.
 * 2. `admit`, a statement of its own with a newer view, gives free tokens to the best parked jobs.
 *
 * Whoever comes last to a gate sees what all before it did, so no token stays free while somebody
 * waits for it; if a process dies between the two steps, `sweep-gates.ts` makes up for it.
 *
 * A statement that makes jobs `queued` sets `parked` instead of `seq` where `parks` says so, names a
 * CTE `entered` with the columns (kgate, lane, parked) and adds `COUNT_PARKED`. One that takes jobs
 * out of `waiting` or `running` adds `LEFT_WAITING` or `LEFT_RUNNING`, and `GIVE_BACK`. Then `admit` is
 * called with the gates that `counted` returned, or `TO_ADMIT`.
 */

/** The gate of a concurrency key; null without one. $1 is the shard. */
export function keyGate(lane: string, key: string): string {
  return `longshore.gate_of('key', (
    select l.tenant || E'\\n' || l.key || E'\\n' || ${key} from longshore.lane l
    where l.shard = $1 and l.lane = ${lane} and ${key} is not null))`;
}

/** Whether a row that is to be queued must first get a token of its key. $1 is the shard. */
export function parks(row: string): string {
  return `(${row}.kgate is not null and (
    select k.keyed from longshore.lane k where k.shard = $1 and k.lane = ${row}.lane))`;
}

/** Counts what `entered` has parked. The gate of a key is made when it is first needed. */
export const COUNT_PARKED = `
  counted as (
    insert into longshore.gate (shard, gate, definition, parked)
    select $1, e.kgate, min(longshore.gate_of('definition', (
        select l.key from longshore.lane l where l.shard = $1 and l.lane = e.lane))), count(*)
    from entered e where e.parked is not null
    group by e.kgate order by e.kgate
    on conflict (gate, shard) do update set parked = gate.parked + excluded.parked
    returning gate
  )`;

/** What jobs that were deleted from `waiting` by a CTE `gone` leave behind at the gates of their keys. */
export const LEFT_WAITING = `
  given as materialized (
    select kgate as gate, count(*) filter (where key_token)::int as tokens,
      count(parked)::int as parked
    from gone where kgate is not null and (key_token or parked is not null)
    group by kgate
  )`;

/** What claims leave behind, for rows `owned` that go on to `next`. In its line a job keeps its key. */
export const LEFT_RUNNING = `
  given as materialized (
    select t.gate, count(*)::int as tokens, 0 as parked
    from owned o cross join lateral unnest(o.tokens) as t(gate)
    where o.next <> 'queued' or t.gate is distinct from o.kgate
    group by t.gate
  )`;

/**
 * Lowers the counters by what `given` says, in the order of gates. An update would not find a gate that
 * is younger than the statement, which may have waited for the very transaction that made it; a
 * conflict does. There is always one: who holds a token of a gate, or waits for one, keeps it alive.
 */
export const GIVE_BACK = `
  given_back as (
    insert into longshore.gate as g (shard, gate, definition, in_use, parked)
    select $1, gate, 0, -tokens, -parked from given order by gate
    on conflict (gate, shard) do update
      set in_use = g.in_use + excluded.in_use, parked = g.parked + excluded.parked,
        next_at = case when g.parked + excluded.parked > 0 then g.next_at end
    returning g.gate, g.definition, g.parked
  )`;

/** The gates of `given_back` at which somebody waits for what was given. */
export const TO_ADMIT = `select gate::text from given_back where definition is not null and parked > 0`;

/**
 * A key with a rate lets one more job into its line when it has a start left and none stands there
 * already. That keeps most of those out that the claim would have to send back; the claim decides.
 */
const ADMIT = statement<{ lane: number | null; rank: number; next_ms: number | null }>(
  'admit',
  `with clock as materialized (select clock_timestamp() as at),
  held as materialized (
    select k.gate, k.in_use, k.parked, d.key_lim, d.key_rate,
      longshore.tokens_at(d.key_rate, k.tokens, k.refilled_at, clock_timestamp()) as tokens
    from longshore.gate k left join lateral (
      select key_lim, key_rate from longshore.gate d
      where d.shard = $1 and d.gate = k.definition limit 1
    ) d on true
    where k.shard = $1 and k.gate = any ($2::bigint[])
    order by k.gate for update of k
  ),
  room as materialized (
    select h.gate, h.key_rate, h.tokens, coalesce(h.key_lim - h.in_use, 1000000) as by_count,
      case when h.key_rate is null then 1000000
        when exists (select 1 from longshore.waiting a
          where a.shard = $1 and a.kgate = h.gate and a.key_token) then 0
        else floor(h.tokens)::int end as by_rate
    from held h where h.parked > 0
  ),
  best as materialized (
    select w.id, w.kgate
    from room r cross join lateral (
      select w.id, w.kgate from longshore.waiting w
      where w.shard = $1 and w.kgate = r.gate and w.parked is not null
      order by w.rank, w.parked limit greatest(0, least($3, r.by_count, r.by_rate))
      for update skip locked
    ) w
    limit $3
  ),
  placed as materialized (select id, kgate, row_number() over () as n from best),
  admitted as (
    update longshore.waiting w
    set seq = (extract(epoch from c.at) * 1000000)::bigint + p.n, parked = null, key_token = true
    from placed p, clock c
    where w.shard = $1 and w.id = any (array(select id from placed)) and w.id = p.id
    returning w.lane, w.rank, w.kgate
  ),
  changed as (
    update longshore.gate g
    set in_use = g.in_use + r.admitted, parked = g.parked - r.admitted,
      next_at = case when r.by_rate < 1 and r.by_count > 0 and r.tokens < 1
        then c.at + make_interval(secs => longshore.token_in_ms(r.key_rate, r.tokens) / 1000) end
    from (
      select r.*, (select count(*)::int from admitted a where a.kgate = r.gate) as admitted from room r
    ) r, clock c
    where g.shard = $1 and g.gate = any (array(select gate from room)) and g.gate = r.gate
      and (r.admitted > 0 or g.next_at is not null or r.by_rate < 1)
    returning g.next_at
  )
  select lane, rank, null::float8 as next_ms from admitted
  union all
  select null, null, (extract(epoch from min(next_at) - (select at from clock)) * 1000)::float8
  from changed having min(next_at) is not null`,
);

/** What one round admits at most; a gate with more than that is looked at again by the sweep. */
const AT_ONCE = 10_000;

export interface Admission {
  /** Lines that got jobs by it. */
  lines: LineHint[];
  /** How long until the rate of one of these keys lets the next job in; null when none waits for that. */
  nextMs: number | null;
}

/** Gives free tokens of these keys to the jobs that wait for them: by priority, then the oldest. */
export async function admit(
  db: Queryable,
  shard: number,
  gates: readonly string[],
): Promise<Admission> {
  if (gates.length === 0) return { lines: [], nextMs: null };
  const rows = await db.run(ADMIT, [shard, [...new Set(gates)], AT_ONCE]);
  const lines = new Map<string, LineHint>();
  let nextMs: number | null = null;
  for (const { lane, rank, next_ms: ms } of rows) {
    if (lane === null) nextMs = ms;
    else lines.set(`${lane}:${rank}`, { shard, lane, rank });
  }
  return { lines: [...lines.values()], nextMs };
}
