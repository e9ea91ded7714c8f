import type { JobState } from '../../core/job/job.ts';
import type { OldestJob, StatsRows, ThroughputCount } from '../../core/views/stats.ts';
import { type Db, statement } from '../connection/db.ts';

/**
 * What is known about the jobs of a tenant, read from the counters: it costs what there are queues, not what
 * there are jobs. Hooks and deliveries are left out. Only the oldest jobs are looked up where the
 * jobs are, by one probe of the index for each level. Without a tenant it is about all of them.
 *
 * The time is a value of its own in each statement: compared as it is, it would be asked for each row,
 * and no index could be used.
 */

const OWN = `l.shard = $1 and l.tenant = coalesce($2, l.tenant) and left(l.key, 1) <> '$'`;

/** A queue that never had a job answers with a state that is null. */
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

const SPANS = statement<{ key: string; state: JobState; bucket: number; n: number }>(
  'read_spans',
  `select l.key, s.state, s.bucket, sum(s.n)::bigint as n
   from longshore.queue l cross join lateral (
     select s.state, s.bucket, s.n from longshore.counter_span s
     where s.shard = $1 and s.queue = l.queue
       and s.slot > (select clock_timestamp() - make_interval(mins => $3 + 15))
   ) s
   where ${OWN}
   group by l.key, s.state, s.bucket`,
);

/** By one probe for each level, and one for those that wait behind a concurrency key. */
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
   where ${OWN}`,
);

const MINUTES = statement<{ minute: Date } & Record<ThroughputCount, number>>(
  'read_minutes',
  `select minute, enqueued, started, succeeded, failed, cancelled, retried
   from longshore.counter_minute
   where shard = $1 and tenant = $2 and minute > (select clock_timestamp() - make_interval(mins => $3))
   order by minute`,
);

const NOW = statement<{ at: Date }>('stats_clock', 'select clock_timestamp() as at');

/** By version of a definition, its oldest queued job. */
export async function readOldest(db: Db, tenant: string | null): Promise<OldestJob[]> {
  const rows: OldestJob[] = [];
  for (let shard = 0; shard < db.shards; shard += 1) {
    rows.push(...(await db.run(OLDEST, [shard, tenant])));
  }
  return rows;
}

export async function readStats(
  db: Db,
  tenant: string,
  { windowMinutes, seriesMinutes }: { windowMinutes: number; seriesMinutes: number },
): Promise<StatsRows> {
  const [now] = await db.run(NOW);
  const shards = Array.from({ length: db.shards }, (_, shard) => shard);
  const all = async <Row>(read: (shard: number) => Promise<Row[]>) =>
    (await Promise.all(shards.map(read))).flat();
  const [depths, spans, oldest, minutes] = await Promise.all([
    all(async (shard) => await db.run(DEPTHS, [shard, tenant])),
    all(async (shard) => await db.run(SPANS, [shard, tenant, windowMinutes])),
    readOldest(db, tenant),
    all(async (shard) => await db.run(MINUTES, [shard, tenant, seriesMinutes])),
  ]);
  return { at: now?.at ?? new Date(0), depths, spans, oldest, minutes };
}
