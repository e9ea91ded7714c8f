import { LEASE_OVER_SECONDS, STUCK_SHARE } from '../../core/alert/alert.ts';
import { type Queryable, statement } from '../connection/db.ts';

/**
 * What alerts measure of jobs (`store/alerts/missed-slots.ts` has the schedules). The cost depends on the
 * number of problems, not of jobs: a query skips from queue to queue through an index, reads the head of each level
 * or what is young, and stops at a bound. A count at its bound means "at least". System queues are
 * left out, and paused ones unless no worker serves them. The time is read once, because an index cannot be searched by a function
 * whose value changes.
 */

/** The most findings of a kind per shard; always the same ones. */
export const FOUND_MAX = 1_000;

export interface QueueFinding {
  tenant: string;
  definitionKey: string;
  jobId: string | null;
  value: number;
}

export interface OldLevel extends QueueFinding {
  served: boolean;
  /** Its queue is paused, or was until a moment ago. */
  held: boolean;
}

const SERVED = `exists (
       select 1 from longshore.worker a
       where a.shard = $1 and a.dead_at is null and a.lease_until > clock_timestamp()
         and l.key || '@' || l.version = any (a.definitions))`;

/** A level is a queue and a rank; the oldest job of each is its head. */
const OLD_LEVELS = statement<OldLevel>(
  'find_old_levels',
  `with recursive level as (
     (select w.queue, w.rank from longshore.waiting w
      where w.shard = $1 and w.seq is not null and w.queue > 0
      order by w.queue, w.rank limit 1)
     union all
     select n.queue, n.rank from level cross join lateral (
       select w.queue, w.rank from longshore.waiting w
       where w.shard = $1 and w.seq is not null and w.queue >= level.queue
         and (w.queue, w.rank) > (level.queue, level.rank)
       order by w.queue, w.rank limit 1
     ) n
   )
   select l.tenant, l.key as "definitionKey", h.id as "jobId", l.held,
     not l.held and ${SERVED} as served,
     extract(epoch from clock_timestamp()
       - case when l.held then h.queued_at else greatest(h.queued_at, l.resumed_at) end)::float8
       as value
   from level
   cross join lateral (
     select w.id, w.queued_at from longshore.waiting w
     where w.shard = $1 and w.queue = level.queue and w.rank = level.rank and w.seq is not null
     order by w.seq limit 1
   ) h
   cross join lateral (
     select l.tenant, l.key, l.version, l.resumed_at, l.paused_at is not null
       or coalesce(l.resumed_at > clock_timestamp() - make_interval(secs => $2::float8), false)
       as held
     from longshore.queue l
     where l.shard = $1 and l.queue = level.queue and left(l.key, 1) <> '$'
     limit 1
   ) l
   where h.queued_at <= clock_timestamp() - make_interval(secs => $2::float8)
     and (not l.held or not ${SERVED})
   limit $3`,
);

/**
 * The levels whose oldest job has waited for so long since its last pause, and whether a live worker
 * serves them. Of those that a pause holds back, only the ones that no worker serves.
 */
export async function findOldLevels(
  db: Queryable,
  shard: number,
  seconds: number,
): Promise<OldLevel[]> {
  if (!Number.isFinite(seconds)) return [];
  return await db.run(OLD_LEVELS, [shard, seconds, FOUND_MAX]);
}

export interface DeadQueue {
  queue: number;
  tenant: string;
  definitionKey: string;
}

const DEAD_QUEUES = statement<DeadQueue>(
  'find_dead_queues',
  `with recursive mark as (
     select 0 as queue
     union all
     select (select f.queue from longshore.done f
             where f.shard = $1 and f.state = 'failed' and f.error_code is not null
               and f.queue > mark.queue
             order by f.queue limit 1)
     from mark where mark.queue is not null
   )
   select mark.queue, l.tenant, l.key as "definitionKey" from mark
   cross join lateral (
     select l.tenant, l.key from longshore.queue l
     where l.shard = $1 and l.queue = mark.queue limit 1
   ) l
   where left(l.key, 1) <> '$'
   limit $2`,
);

/** The queues that have dead letters. */
export async function findDeadQueues(db: Queryable, shard: number): Promise<DeadQueue[]> {
  return await db.run(DEAD_QUEUES, [shard, FOUND_MAX]);
}

const COUNT_DEAD = statement<{ n: number; value: number; jobId: string | null }>(
  'count_young_dead',
  `with clock as materialized (select clock_timestamp() as at)
   select i.n, f.value, f."jobId"
   from json_to_recordset($2::json) as i(n int, queue int, seconds float8, bound int)
   cross join lateral (
     select count(*)::int as value, (array_agg(f.id))[1] as "jobId" from (
       select f.id from longshore.done f
       where f.shard = $1 and f.queue = i.queue and f.state = 'failed' and f.error_code is not null
         and f.finished_at > (select at from clock) - make_interval(secs => i.seconds)
       order by f.finished_at desc, f.id desc limit i.bound
     ) f
   ) f
   where f.value > 0`,
);

/** How many dead letters each queue got within its window, counted up to its bound. */
export async function countYoungDead(
  db: Queryable,
  shard: number,
  queues: readonly (DeadQueue & { seconds: number; bound: number })[],
): Promise<QueueFinding[]> {
  if (queues.length === 0) return [];
  const asked = queues.map(({ queue, seconds, bound }, n) => ({ n, queue, seconds, bound }));
  const rows = await db.run(COUNT_DEAD, [shard, JSON.stringify(asked)]);
  return rows.flatMap(({ n, value, jobId }) => {
    const queue = queues[n];
    return queue ? { tenant: queue.tenant, definitionKey: queue.definitionKey, jobId, value } : [];
  });
}

const DEAD_SIZES = statement<{ n: number; value: number }>(
  'count_dead_letters',
  `select i.n, greatest(c.value, 0)::float8 as value
   from json_to_recordset($2::json) as i(n int, queue int)
   cross join lateral (
     select coalesce(sum(c.n) filter (where c.state = 'failed'), 0)
       - coalesce(sum(c.n) filter (where c.was = 'failed'), 0) as value
     from longshore.counter c where c.shard = $1 and c.queue = i.queue
   ) c`,
);

/** How many dead letters each queue has, by the counters: at most a second old. */
export async function countDead(
  db: Queryable,
  shard: number,
  queues: readonly DeadQueue[],
): Promise<QueueFinding[]> {
  if (queues.length === 0) return [];
  const asked = queues.map(({ queue }, n) => ({ n, queue }));
  const rows = await db.run(DEAD_SIZES, [shard, JSON.stringify(asked)]);
  return rows.flatMap(({ n, value }) => {
    const { tenant, definitionKey } = queues[n] ?? {};
    if (tenant === undefined || definitionKey === undefined) return [];
    return { tenant, definitionKey, jobId: null, value };
  });
}

/** The most retries that are read, newest first. */
const RETRIES_MAX = 10_000;

export interface RetriedJob {
  queue: number;
  tenant: string;
  definitionKey: string;
  jobId: string;
  ageSeconds: number;
}

const RETRIED = statement<RetriedJob>(
  'find_young_retries',
  `with clock as materialized (select clock_timestamp() as at)
   select j.queue, l.tenant, l.key as "definitionKey", a.job_id as "jobId",
     extract(epoch from clock_timestamp() - a.finished_at)::float8 as "ageSeconds"
   from (
     select a.job_id, a.finished_at from longshore.attempt a
     where a.shard = $1 and a.next = 'retrying'
       and a.finished_at > (select at from clock) - make_interval(secs => $2::float8)
     order by a.finished_at desc limit $3
   ) a
   cross join lateral (
     select j.queue from longshore.job j where j.shard = $1 and j.id = a.job_id limit 1
   ) j
   cross join lateral (
     select l.tenant, l.key from longshore.queue l
     where l.shard = $1 and l.queue = j.queue and left(l.key, 1) <> '$' limit 1
   ) l`,
);

/** Attempts that failed within the window and are retried. */
export async function findYoungRetries(
  db: Queryable,
  shard: number,
  seconds: number,
): Promise<RetriedJob[]> {
  return await db.run(RETRIED, [shard, seconds, RETRIES_MAX]);
}

const COUNT_ATTEMPTS = statement<{ queue: number; started: number; retried: number }>(
  'count_queue_attempts',
  `with clock as materialized (select clock_timestamp() as at)
   select i.queue, s.started, s.retried
   from json_to_recordset($2::json) as i(queue int, seconds float8)
   cross join lateral (
     select coalesce(sum(s.n) filter (where s.state = 'running'), 0)::bigint as started,
       coalesce(sum(s.n) filter (where s.state = 'retrying'), 0)::bigint as retried
     from longshore.counter_span s
     where s.shard = $1 and s.queue = i.queue
       and s.slot > (select at from clock) - make_interval(secs => i.seconds + 900)
   ) s`,
);

/**
 * How many attempts started and how many were retried in the window of each queue, rounded to a quarter
 * of an hour like the counters.
 */
export async function countAttempts(
  db: Queryable,
  shard: number,
  queues: readonly { queue: number; seconds: number }[],
): Promise<{ queue: number; started: number; retried: number }[]> {
  if (queues.length === 0) return [];
  const asked = queues.map(({ queue, seconds }) => ({ queue, seconds }));
  return await db.run(COUNT_ATTEMPTS, [shard, JSON.stringify(asked)]);
}

const STUCK = statement<QueueFinding & { detail: string }>(
  'find_stuck',
  `select s.tenant, s.key as "definitionKey", count(*)::int as value, min(s.id::text)::uuid as "jobId",
     case when bool_or(s.lost) then 'the lease of its worker has expired and the job was not returned'
       else 'it has used ' || round(100 * max(s.share)) || ' % of its timeout' end as detail
   from (
     select r.id, l.tenant, l.key,
       k.lease_until < clock_timestamp() - interval '${LEASE_OVER_SECONDS} s' as lost,
       (extract(epoch from clock_timestamp() - r.started_at) * 1000 / coalesce(
         (j.policy ->> 'timeoutMs')::float8, (d.info ->> 'timeoutMs')::float8, 3600000))::numeric
         as share
     from longshore.worker k
     cross join lateral (
       select r.id, r.queue, r.started_at from longshore.running r
       where r.shard = $1 and r.worker = k.instance
         and r.started_at < clock_timestamp() - interval '1 s'
       limit $2
     ) r
     cross join lateral (
       select l.tenant, l.key, l.version from longshore.queue l
       where l.shard = $1 and l.queue = r.queue and left(l.key, 1) <> '$' limit 1
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

/** Running jobs near their timeout, or whose worker is dead, by definition. */
export async function findStuck(
  db: Queryable,
  shard: number,
): Promise<(QueueFinding & { detail: string })[]> {
  return await db.run(STUCK, [shard, FOUND_MAX]);
}
