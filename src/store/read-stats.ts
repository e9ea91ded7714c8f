import type { JobState } from '../core/job.ts';
import type { StatsRows, ThroughputCount } from '../core/stats.ts';
import { type Db, statement } from './db.ts';

/**
 * What is known about the jobs of a tenant, read from the tally: it costs what there are lanes, not what
 * there are jobs. Hooks and deliveries are left out. Only the age of the oldest job is looked up where
 * the jobs are, by one probe of the index for each line. Without a tenant it is about all of them.
 *
 * The time is a value of its own in each statement: compared as it is, it would be asked for each row,
 * and no index could be used.
 */

const OWN = `l.shard = $1 and l.tenant = coalesce($2, l.tenant) and left(l.key, 1) <> '$'`;

/** A lane that never had a job answers with a state that is null. */
const DEPTHS = statement<{ key: string; state: JobState | null; n: number }>(
  'read_depths',
  `select l.key, m.state, coalesce(sum(m.n), 0)::bigint as n
   from longshore.lane l left join lateral (
     select v.state, v.n from longshore.tally t
     cross join lateral (values (t.state, t.n), (t.was, -t.n)) as v(state, n)
     where t.shard = $1 and t.lane = l.lane and v.state is not null
   ) m on true
   where ${OWN}
   group by l.key, m.state`,
);

const SPANS = statement<{ key: string; state: JobState; bucket: number; n: number }>(
  'read_spans',
  `select l.key, s.state, s.bucket, sum(s.n)::bigint as n
   from longshore.lane l cross join lateral (
     select s.state, s.bucket, s.n from longshore.tally_span s
     where s.shard = $1 and s.lane = l.lane
       and s.slot > (select clock_timestamp() - make_interval(mins => $3 + 15))
   ) s
   where ${OWN}
   group by l.key, s.state, s.bucket`,
);

const OLDEST = statement<{ key: string; ageMs: number }>(
  'read_oldest',
  `select l.key,
     max(extract(epoch from clock_timestamp()) * 1000 - o.seq / 1000.0)::float8 as "ageMs"
   from longshore.lane l cross join lateral (
     with recursive step as (
       (select w.rank, w.seq from longshore.waiting w
        where w.shard = $1 and w.lane = l.lane and w.seq is not null
        order by w.rank, w.seq limit 1)
       union all
       select next.rank, next.seq from step cross join lateral (
         select w.rank, w.seq from longshore.waiting w
         where w.shard = $1 and w.lane = l.lane and w.seq is not null and w.rank > step.rank
         order by w.rank, w.seq limit 1
       ) next
     )
     select min(seq) as seq from step
   ) o
   where ${OWN} and o.seq is not null
   group by l.key`,
);

const MINUTES = statement<{ minute: Date } & Record<ThroughputCount, number>>(
  'read_minutes',
  `select minute, enqueued, started, succeeded, failed, cancelled, retried
   from longshore.tally_minute
   where shard = $1 and tenant = $2 and minute > (select clock_timestamp() - make_interval(mins => $3))
   order by minute`,
);

const NOW = statement<{ at: Date }>('stats_clock', 'select clock_timestamp() as at');

/** By definition, how long its oldest job has been in line. */
export async function readOldest(
  db: Db,
  tenant: string | null,
): Promise<{ key: string; ageMs: number }[]> {
  const rows: { key: string; ageMs: number }[] = [];
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
