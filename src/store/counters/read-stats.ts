import type { JobState } from '../../core/job/job.ts';
import { TOTAL_KEY } from '../../core/series/series-plan.ts';
import { HOUR_MS } from '../../core/values/duration.ts';
import {
  type OldestJob,
  type RecentSlot,
  type StatsRows,
  type ThroughputCount,
  windowFrom,
} from '../../core/views/stats.ts';
import { type Db, statement } from '../connection/db.ts';

/**
 * Statistics of the jobs of a tenant, or of all, from the counters: the cost depends on the number of queues,
 * not of jobs. Hooks and deliveries are left out. Only the oldest jobs are read from the queues, by one index
 * probe per level.
 *
 * `(select clock_timestamp())` is evaluated once. Without the subquery it is evaluated for each row, and no
 * index can be used.
 */

const OF_TENANT = 'l.shard = $1 and l.tenant = coalesce($2, l.tenant)';
const OWN = `${OF_TENANT} and left(l.key, 1) <> '$'`;

/** The state is null for a queue that never had a job. */
const DEPTHS = statement<{ key: string; version: number; state: JobState | null; n: number }>(
  'read_depths',
  `select l.key, l.version, m.state, coalesce(sum(m.n), 0)::bigint as n
   from longshore.queue l left join lateral (
     select v.state, v.n from longshore.counter t
     cross join lateral (values (t.state, t.n), (t.was, -t.n)) as v(state, n)
     where t.shard = $1 and t.queue = l.queue and v.state is not null
   ) m on true
   where ${OWN}
   group by l.key, l.version, m.state`,
);

/** Quarters of an hour until the first full hour of the window, then hours. */
const RECENT = statement<RecentSlot>(
  'read_recent',
  `select l.key, s.succeeded, s.failed, s.retried, s.waited, s.ran
   from (select distinct l.key, l.tenant from longshore.queue l where ${OWN}) l
   cross join (values (15::smallint, $3::timestamptz, $4::timestamptz), (60, $4, 'infinity'))
     as g(minutes, first, over)
   cross join lateral (
     select s.succeeded, s.failed, s.retried, s.waited, s.ran from longshore.counter_series s
     where s.shard = $1 and s.tenant = l.tenant and s.key = l.key and s.minutes = g.minutes
       and s.slot >= g.first and s.slot < g.over
   ) s`,
);

/** One probe per level, and one for the jobs that their concurrency key blocks. */
const OLDEST = statement<OldestJob>(
  'read_oldest',
  `with served as materialized (
     select distinct d.name from longshore.worker k cross join unnest(k.definitions) as d(name)
     where k.shard = $1 and k.dead_at is null and k.lease_until > (select clock_timestamp())
   )
   select l.key, l.version, o.id as "jobId",
     (extract(epoch from clock_timestamp() - o.queued_at) * 1000)::float8 as "ageMs",
     l.key || '@' || l.version in (select name from served) as served
   from longshore.queue l cross join lateral (
     with recursive step as (
       (select w.rank, w.id, w.queued_at from longshore.waiting w
        where w.shard = $1 and w.queue = l.queue and w.seq is not null
        order by w.rank, w.seq limit 1)
       union all
       select next.* from step cross join lateral (
         select w.rank, w.id, w.queued_at from longshore.waiting w
         where w.shard = $1 and w.queue = l.queue and w.seq is not null and w.rank > step.rank
         order by w.rank, w.seq limit 1
       ) next
     )
     select h.id, h.queued_at from (
       select id, queued_at from step
       union all
       (select w.id, w.queued_at from longshore.waiting w
        where w.shard = $1 and w.queue = l.queue and w.blocked is not null
        order by w.queued_at limit 1)
     ) h
     order by h.queued_at limit 1
   ) o
   where ${OF_TENANT} and (left(l.key, 1) <> '$' or $3)`,
);

const MINUTES = statement<{ minute: Date } & Record<ThroughputCount, number>>(
  'read_minutes',
  `select slot as minute, enqueued, started, succeeded, failed, cancelled, retried
   from longshore.counter_series
   where shard = $1 and tenant = $2 and key = '${TOTAL_KEY}' and minutes = 1
     and slot > (select clock_timestamp() - make_interval(mins => $3))
   order by slot`,
);

const NOW = statement<{ at: Date }>('stats_clock', 'select clock_timestamp() as at');

/** The time by the database. */
export async function readClock(db: Db): Promise<Date> {
  const [now] = await db.run(NOW);
  return now?.at ?? new Date(0);
}

/** The oldest queued job of each version of a definition, with hooks and deliveries if wanted. */
export async function readOldest(
  db: Db,
  tenant: string | null,
  withSystem = false,
): Promise<OldestJob[]> {
  const rows: OldestJob[] = [];
  for (let shard = 0; shard < db.shards; shard += 1) {
    rows.push(...(await oldestInShard(db, shard, tenant, withSystem)));
  }
  return rows;
}

export async function oldestInShard(
  db: Db,
  shard: number,
  tenant: string | null,
  withSystem: boolean,
): Promise<OldestJob[]> {
  return await db.run(OLDEST, [shard, tenant, withSystem]);
}

export async function readStats(
  db: Db,
  tenant: string,
  { windowMinutes, seriesMinutes }: { windowMinutes: number; seriesMinutes: number },
): Promise<StatsRows> {
  const at = await readClock(db);
  const from = windowFrom(at, windowMinutes);
  const firstHour = new Date(Math.ceil(from.getTime() / HOUR_MS) * HOUR_MS);
  const shards = Array.from({ length: db.shards }, (_, shard) => shard);
  const all = async <Row>(read: (shard: number) => Promise<Row[]>) =>
    (await Promise.all(shards.map(read))).flat();
  const [depths, recent, oldest, minutes] = await Promise.all([
    all(async (shard) => await db.run(DEPTHS, [shard, tenant])),
    all(async (shard) => await db.run(RECENT, [shard, tenant, from, firstHour])),
    readOldest(db, tenant),
    all(async (shard) => await db.run(MINUTES, [shard, tenant, seriesMinutes])),
  ]);
  return { at, depths, recent, oldest, minutes };
}
