import { type Queryable, statement } from '../connection/db.ts';
import type { LevelHint } from '../connection/wake.ts';

/**
 * Concurrency keys and their permits. A job whose key is limited gets a permit when it enters its
 * level, and the statement that ends the job returns it. This takes two steps, because a statement
 * sees the database as it was when it began, which may be before it got the lock of a limiter:
 *
 * 1. The statement that changes jobs also changes the counters of their limiters, and returns
 *    those limiters.
 * 2. `permit`, a separate statement with a newer snapshot, gives free permits to the best blocked
 *    jobs.
 *
 * The last statement at a limiter sees the work of all before it, so no permit stays free while a
 * job is blocked. If a process dies between the two steps, `sweep-limiters.ts` does the second.
 *
 * A statement that makes jobs `queued` sets `blocked` instead of `seq` where `blocks` says so,
 * names a CTE `entered` with the columns (key_limiter, queue, blocked) and adds `COUNT_BLOCKED`. A
 * statement that takes jobs out of `waiting` or `running` adds `LEFT_WAITING` or `LEFT_RUNNING`,
 * and `RETURN_PERMITS`. Then `permit` is called with the limiters of `counted`, or of `TO_PERMIT`.
 */

/** The limiter of a concurrency key; null without one. $1 is the shard. */
export function keyLimiter(queue: string, key: string): string {
  return `longshore.limiter_of('key', (
    select q.tenant || E'\\n' || q.key || E'\\n' || ${key} from longshore.queue q
    where q.shard = $1 and q.queue = ${queue} and ${key} is not null))`;
}

/** Whether a row that is to be queued must first get a permit of its key. $1 is the shard. */
export function blocks(row: string): string {
  return `(${row}.key_limiter is not null and (
    select k.keyed from longshore.queue k where k.shard = $1 and k.queue = ${row}.queue))`;
}

/** Counts what `entered` has blocked. The limiter of a key is created on first use. */
export const COUNT_BLOCKED = `
  counted as (
    insert into longshore.limiter (shard, limiter, definition, blocked)
    select $1, e.key_limiter, min(longshore.limiter_of('definition', (
        select q.key from longshore.queue q where q.shard = $1 and q.queue = e.queue))), count(*)
    from entered e where e.blocked is not null
    group by e.key_limiter order by e.key_limiter
    on conflict (limiter, shard) do update set blocked = limiter.blocked + excluded.blocked
    returning limiter
  )`;

/** The permits and blocked entries of jobs that a CTE `gone` deleted from `waiting`. */
export const LEFT_WAITING = `
  given as materialized (
    select key_limiter as limiter, count(*) filter (where has_permit)::int as permits,
      count(blocked)::int as blocked
    from gone where key_limiter is not null and (has_permit or blocked is not null)
    group by key_limiter
  )`;

/**
 * The permits of rows `owned` that change to `next`. A job that is queued again keeps the permit
 * of its key.
 */
export const LEFT_RUNNING = `
  given as materialized (
    select t.limiter, count(*)::int as permits, 0 as blocked
    from owned o cross join lateral unnest(o.permits) as t(limiter)
    where o.next <> 'queued' or t.limiter is distinct from o.key_limiter
    group by t.limiter
  )`;

/**
 * Lowers the counters by `given`, in the order of limiters. It is an insert with a conflict,
 * because an update does not find a limiter that is newer than the statement's snapshot; the
 * statement may have waited for the transaction that created it. The conflict always exists: a
 * limiter is not removed while a job has or awaits its permit.
 */
export const RETURN_PERMITS = `
  permits_returned as (
    insert into longshore.limiter as l (shard, limiter, definition, in_use, blocked)
    select $1, limiter, 0, -permits, -blocked from given order by limiter
    on conflict (limiter, shard) do update
      set in_use = l.in_use + excluded.in_use, blocked = l.blocked + excluded.blocked,
        next_at = case when l.blocked + excluded.blocked > 0 then l.next_at end
    returning l.limiter, l.definition, l.blocked
  )`;

/** The limiters of `permits_returned` that have blocked jobs. */
export const TO_PERMIT = `select limiter::text from permits_returned where definition is not null and blocked > 0`;

/**
 * A key with a rate lets one more job into its level when it has a token and no permitted job is
 * waiting there. So the claim has to block few jobs again; the claim decides.
 */
const PERMIT = statement<{ queue: number | null; rank: number; next_ms: number | null }>(
  'permit',
  `with clock as materialized (select clock_timestamp() as at),
  held as materialized (
    select k.limiter, k.in_use, k.blocked, d.key_lim, d.key_rate,
      longshore.tokens_at(d.key_rate, k.tokens, k.refilled_at, clock_timestamp()) as tokens
    from longshore.limiter k left join lateral (
      select key_lim, key_rate from longshore.limiter d
      where d.shard = $1 and d.limiter = k.definition limit 1
    ) d on true
    where k.shard = $1 and k.limiter = any ($2::bigint[])
    order by k.limiter for update of k
  ),
  room as materialized (
    select h.limiter, h.key_rate, h.tokens, coalesce(h.key_lim - h.in_use, 1000000) as by_count,
      case when h.key_rate is null then 1000000
        when exists (select 1 from longshore.waiting a
          where a.shard = $1 and a.key_limiter = h.limiter and a.has_permit) then 0
        else floor(h.tokens)::int end as by_rate
    from held h where h.blocked > 0
  ),
  best as materialized (
    select w.id, w.key_limiter
    from room r cross join lateral (
      select w.id, w.key_limiter from longshore.waiting w
      where w.shard = $1 and w.key_limiter = r.limiter and w.blocked is not null
      order by w.rank, w.blocked limit greatest(0, least($3, r.by_count, r.by_rate))
      for update skip locked
    ) w
    limit $3
  ),
  placed as materialized (
    select b.id, (extract(epoch from c.at) * 1000000)::bigint + row_number() over () as seq
    from best b, clock c
  ),
  permitted as (
    update longshore.waiting w
    set seq = p.seq, blocked = null, has_permit = true
    from placed p
    where w.shard = $1 and w.id = any (array(select id from placed)) and w.id = p.id
    returning w.queue, w.rank, w.key_limiter
  ),
  left_room as materialized (
    select r.limiter, r.by_rate,
      (select count(*)::int from permitted a where a.key_limiter = r.limiter) as permitted,
      case when r.by_rate < 1 and r.by_count > 0 and r.tokens < 1
        then c.at + make_interval(secs => longshore.token_in_ms(r.key_rate, r.tokens) / 1000) end as next_at
    from room r, clock c
  ),
  changed as (
    update longshore.limiter l
    set in_use = l.in_use + r.permitted, blocked = l.blocked - r.permitted, next_at = r.next_at
    from left_room r
    where l.shard = $1 and l.limiter = any (array(select limiter from room)) and l.limiter = r.limiter
      and (r.permitted > 0 or l.next_at is not null or r.by_rate < 1)
    returning l.next_at
  )
  select queue, rank, null::float8 as next_ms from permitted
  union all
  select null, null, (extract(epoch from min(next_at) - (select at from clock)) * 1000)::float8
  from changed having min(next_at) is not null`,
);

/** Maximum number of permits of one call; the sweep continues at a limiter with more. */
const AT_ONCE = 10_000;

export interface PermitResult {
  /** Levels that got jobs. */
  levels: LevelHint[];
  /** Time until the rate of one of these keys has a token; null when no job waits for one. */
  nextMs: number | null;
}

/** Gives free permits of these keys to their blocked jobs: by priority, then the oldest. */
export async function permit(
  db: Queryable,
  shard: number,
  limiters: readonly string[],
): Promise<PermitResult> {
  if (limiters.length === 0) return { levels: [], nextMs: null };
  const rows = await db.run(PERMIT, [shard, [...new Set(limiters)], AT_ONCE]);
  const levels = new Map<string, LevelHint>();
  let nextMs: number | null = null;
  for (const { queue, rank, next_ms: ms } of rows) {
    if (queue === null) nextMs = ms;
    else levels.set(`${queue}:${rank}`, { shard, queue, rank });
  }
  return { levels: [...levels.values()], nextMs };
}
