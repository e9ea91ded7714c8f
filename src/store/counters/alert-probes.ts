import { LEASE_OVER_SECONDS, STUCK_SHARE } from '../../core/views/alert.ts';
import { type Queryable, statement } from '../connection/db.ts';

/**
 * What alerts measure of jobs (`store/counters/missed-slots.ts` has the schedules). Each look costs what is
 * wrong, never what there is: it skips from lane to lane through an index, reads the head of each line
 * or what is young, and stops at a bound. A count at its bound means "at least so many". Lanes of the
 * system are left out, and so is what somebody paused. The time is asked for once, since an index is
 * not searched by a clock that goes on meanwhile.
 */

/** Of each kind so much is found in one shard at most, the same ones each time. */
export const FOUND_MAX = 1_000;

export interface LaneFinding {
  tenant: string;
  definitionKey: string;
  jobId: string | null;
  value: number;
}

/** A line is a lane and a rank; the oldest job of each is its head. */
const OLD_LINES = statement<LaneFinding & { served: boolean }>(
  'find_old_lines',
  `with recursive line as (
     (select w.lane, w.rank from longshore.waiting w
      where w.shard = $1 and w.seq is not null and w.lane > 0
      order by w.lane, w.rank limit 1)
     union all
     select n.lane, n.rank from line cross join lateral (
       select w.lane, w.rank from longshore.waiting w
       where w.shard = $1 and w.seq is not null and w.lane >= line.lane
         and (w.lane, w.rank) > (line.lane, line.rank)
       order by w.lane, w.rank limit 1
     ) n
   )
   select l.tenant, l.key as "definitionKey", h.id as "jobId",
     extract(epoch from clock_timestamp() - h.queued_at)::float8 as value,
     exists (
       select 1 from longshore.worker a
       where a.shard = $1 and a.dead_at is null and a.lease_until > clock_timestamp()
         and l.key || '@' || l.version = any (a.definitions)) as served
   from line
   cross join lateral (
     select w.id, w.queued_at from longshore.waiting w
     where w.shard = $1 and w.lane = line.lane and w.rank = line.rank and w.seq is not null
     order by w.seq limit 1
   ) h
   cross join lateral (
     select l.tenant, l.key, l.version from longshore.lane l
     where l.shard = $1 and l.lane = line.lane and l.paused_at is null and left(l.key, 1) <> '$'
     limit 1
   ) l
   where h.queued_at <= clock_timestamp() - make_interval(secs => $2::float8)
   limit $3`,
);

/** The lines whose oldest job has waited for so long, and whether a living worker serves them. */
export async function findOldLines(
  db: Queryable,
  shard: number,
  seconds: number,
): Promise<(LaneFinding & { served: boolean })[]> {
  if (!Number.isFinite(seconds)) return [];
  return await db.run(OLD_LINES, [shard, seconds, FOUND_MAX]);
}

export interface DeadLane {
  lane: number;
  tenant: string;
  definitionKey: string;
}

const DEAD_LANES = statement<DeadLane>(
  'find_dead_lanes',
  `with recursive mark as (
     select 0 as lane
     union all
     select (select f.lane from longshore.done f
             where f.shard = $1 and f.state = 'failed' and f.error_code is not null
               and f.lane > mark.lane
             order by f.lane limit 1)
     from mark where mark.lane is not null
   )
   select mark.lane, l.tenant, l.key as "definitionKey" from mark
   cross join lateral (
     select l.tenant, l.key from longshore.lane l
     where l.shard = $1 and l.lane = mark.lane limit 1
   ) l
   where left(l.key, 1) <> '$'
   limit $2`,
);

/** The lanes that have dead letters at all. */
export async function findDeadLanes(db: Queryable, shard: number): Promise<DeadLane[]> {
  return await db.run(DEAD_LANES, [shard, FOUND_MAX]);
}

const COUNT_DEAD = statement<{ n: number; value: number; jobId: string | null }>(
  'count_young_dead',
  `with clock as materialized (select clock_timestamp() as at)
   select i.n, f.value, f."jobId"
   from json_to_recordset($2::json) as i(n int, lane int, seconds float8, bound int)
   cross join lateral (
     select count(*)::int as value, (array_agg(f.id))[1] as "jobId" from (
       select f.id from longshore.done f
       where f.shard = $1 and f.lane = i.lane and f.state = 'failed' and f.error_code is not null
         and f.finished_at > (select at from clock) - make_interval(secs => i.seconds)
       order by f.finished_at desc, f.id desc limit i.bound
     ) f
   ) f
   where f.value > 0`,
);

/** How many dead letters each lane got within its window, counted up to its bound. */
export async function countYoungDead(
  db: Queryable,
  shard: number,
  lanes: readonly (DeadLane & { seconds: number; bound: number })[],
): Promise<LaneFinding[]> {
  if (lanes.length === 0) return [];
  const asked = lanes.map(({ lane, seconds, bound }, n) => ({ n, lane, seconds, bound }));
  const rows = await db.run(COUNT_DEAD, [shard, JSON.stringify(asked)]);
  return rows.flatMap(({ n, value, jobId }) => {
    const lane = lanes[n];
    return lane ? { tenant: lane.tenant, definitionKey: lane.definitionKey, jobId, value } : [];
  });
}

/** So many retries are looked at, the newest first. */
const RETRIES_MAX = 10_000;

export interface RetriedJob {
  lane: number;
  tenant: string;
  definitionKey: string;
  jobId: string;
  ageSeconds: number;
}

const RETRIED = statement<RetriedJob>(
  'find_young_retries',
  `with clock as materialized (select clock_timestamp() as at)
   select j.lane, l.tenant, l.key as "definitionKey", a.job_id as "jobId",
     extract(epoch from clock_timestamp() - a.finished_at)::float8 as "ageSeconds"
   from (
     select a.job_id, a.finished_at from longshore.attempt a
     where a.shard = $1 and a.next = 'retrying'
       and a.finished_at > (select at from clock) - make_interval(secs => $2::float8)
     order by a.finished_at desc limit $3
   ) a
   cross join lateral (
     select j.lane from longshore.job j where j.shard = $1 and j.id = a.job_id limit 1
   ) j
   cross join lateral (
     select l.tenant, l.key from longshore.lane l
     where l.shard = $1 and l.lane = j.lane and left(l.key, 1) <> '$' limit 1
   ) l`,
);

/** Attempts that failed within the window and are made again. */
export async function findYoungRetries(
  db: Queryable,
  shard: number,
  seconds: number,
): Promise<RetriedJob[]> {
  return await db.run(RETRIED, [shard, seconds, RETRIES_MAX]);
}

const COUNT_ATTEMPTS = statement<{ lane: number; started: number; retried: number }>(
  'count_lane_attempts',
  `with clock as materialized (select clock_timestamp() as at)
   select i.lane, s.started, s.retried
   from json_to_recordset($2::json) as i(lane int, seconds float8)
   cross join lateral (
     select coalesce(sum(s.n) filter (where s.state = 'running'), 0)::bigint as started,
       coalesce(sum(s.n) filter (where s.state = 'retrying'), 0)::bigint as retried
     from longshore.tally_span s
     where s.shard = $1 and s.lane = i.lane
       and s.slot > (select at from clock) - make_interval(secs => i.seconds + 900)
   ) s`,
);

/**
 * How many attempts of lanes began, and how many are made again, within the window of each: to a quarter
 * of an hour, as the tally has it, but both of the same time.
 */
export async function countAttempts(
  db: Queryable,
  shard: number,
  lanes: readonly { lane: number; seconds: number }[],
): Promise<{ lane: number; started: number; retried: number }[]> {
  if (lanes.length === 0) return [];
  const asked = lanes.map(({ lane, seconds }) => ({ lane, seconds }));
  return await db.run(COUNT_ATTEMPTS, [shard, JSON.stringify(asked)]);
}

const STUCK = statement<LaneFinding & { detail: string }>(
  'find_stuck',
  `select s.tenant, s.key as "definitionKey", count(*)::int as value, min(s.id::text)::uuid as "jobId",
     case when bool_or(s.lost) then 'the lease of its worker is over and nobody took it over'
       else 'it has used ' || round(100 * max(s.share)) || ' % of its timeout' end as detail
   from (
     select r.id, l.tenant, l.key,
       k.lease_until < clock_timestamp() - interval '${LEASE_OVER_SECONDS} s' as lost,
       (extract(epoch from clock_timestamp() - r.started_at) * 1000 / coalesce(
         (j.policy ->> 'timeoutMs')::float8, (d.info ->> 'timeoutMs')::float8, 3600000))::numeric
         as share
     from longshore.worker k
     cross join lateral (
       select r.id, r.lane, r.started_at from longshore.running r
       where r.shard = $1 and r.worker = k.instance
         and r.started_at < clock_timestamp() - interval '1 s'
       limit $2
     ) r
     cross join lateral (
       select l.tenant, l.key, l.version from longshore.lane l
       where l.shard = $1 and l.lane = r.lane and left(l.key, 1) <> '$' limit 1
     ) l
     cross join lateral (
       select j.policy from longshore.job j where j.shard = $1 and j.id = r.id limit 1
     ) j
     left join lateral (
       select d.info from longshore.definition d
       where d.key = l.key and d.version = l.version limit 1
     ) d on true
     where k.shard = $1
   ) s
   where s.lost or s.share >= ${STUCK_SHARE}
   group by s.tenant, s.key
   limit $2`,
);

/** Running jobs that have used most of their time, or whose worker is gone, by definition. */
export async function findStuck(
  db: Queryable,
  shard: number,
): Promise<(LaneFinding & { detail: string })[]> {
  return await db.run(STUCK, [shard, FOUND_MAX]);
}
