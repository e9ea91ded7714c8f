import type { JobState } from '../../core/job/job.ts';
import { TOTAL_KEY } from '../../core/series/series-plan.ts';
import type { ShardReading, ShardRows } from '../../core/shards/shards.ts';
import { MINUTE_MS } from '../../core/values/duration.ts';
import { type Db, statement } from '../connection/db.ts';
import { oldestInShard, readClock } from './read-stats.ts';

/**
 * The load of each shard, of all tenants together, from the counters: the cost depends on the number
 * of queues and workers, not of jobs.
 */

/** The full minutes over which rates are counted, besides the current one. */
const RATE_MINUTES = 5;

const DEPTHS = statement<ShardRows['depths'][number]>(
  'shard_depths',
  `select v.state, sum(v.n)::bigint as n
   from longshore.counter t
   cross join lateral (values (t.state, t.n), (t.was, -t.n)) as v(state, n)
   where t.shard = $1 and v.state not in ('succeeded', 'failed', 'cancelled')
   group by v.state`,
);

type Facts = Pick<ShardRows, 'host' | 'port' | 'database' | 'lateMs' | 'live' | 'dead'>;

const FACTS = statement<Facts>(
  'shard_facts',
  `select host(inet_server_addr()) as host, inet_server_port() as port,
     current_database()::text as database,
     coalesce((select extract(epoch from clock_timestamp() - w.run_at) * 1000
       from longshore.waiting w
       where w.shard = $1 and w.state in ('scheduled', 'retrying', 'suspended')
         and w.run_at <= (select clock_timestamp())
       order by w.run_at limit 1), 0)::float8 as "lateMs",
     (select count(*)::int from longshore.worker k
      where k.shard = $1 and k.dead_at is null and k.lease_until > (select clock_timestamp())) as live,
     (select count(*)::int from longshore.worker k
      where k.shard = $1
        and (k.dead_at is not null or k.lease_until <= (select clock_timestamp()))) as dead`,
);

const RATES = statement<Pick<ShardRows, 'enqueued' | 'ended'>>(
  'shard_rates',
  `select coalesce(sum(s.enqueued), 0)::bigint as enqueued,
     coalesce(sum(s.succeeded + s.failed + s.cancelled), 0)::bigint as ended
   from (select distinct tenant from longshore.queue where shard = $1) l
   cross join lateral (
     select s.enqueued, s.succeeded, s.failed, s.cancelled from longshore.counter_series s
     where s.shard = $1 and s.tenant = l.tenant and s.key = '${TOTAL_KEY}' and s.minutes = 1
       and s.slot >= $2
   ) s`,
);

export interface ShardReadings {
  at: Date;
  /** From when on the rates are counted. */
  from: Date;
  shards: ShardReading[];
}

/** A shard that fails is reported as such. If all of them fail, the database is not available. */
export async function readShards(db: Db): Promise<ShardReadings> {
  const at = await readClock(db);
  const minuteMs = Math.floor(at.getTime() / MINUTE_MS) * MINUTE_MS;
  const from = new Date(minuteMs - RATE_MINUTES * MINUTE_MS);
  const shards = Array.from({ length: db.shards }, (_, shard) => shard);
  const tries = await Promise.allSettled(
    shards.map(async (shard) => await readShard(db, shard, from)),
  );
  const [first] = tries;
  if (first?.status === 'rejected' && tries.every(({ status }) => status === 'rejected')) {
    throw first.reason;
  }
  const readings = tries.map((one) =>
    one.status === 'fulfilled' ? one.value : { problem: messageOf(one.reason) },
  );
  return { at, from, shards: readings };
}

async function readShard(db: Db, shard: number, from: Date): Promise<ShardRows> {
  const [facts] = await db.run(FACTS, [shard]);
  const [rates] = await db.run(RATES, [shard, from]);
  const oldest = await oldestInShard(db, shard, null, true);
  return {
    ...(facts ?? { host: null, port: null, database: '', lateMs: 0, live: 0, dead: 0 }),
    ...(rates ?? { enqueued: 0, ended: 0 }),
    depths: await shardDepths(db, shard),
    oldestAgeMs: oldest.length === 0 ? null : Math.max(...oldest.map(({ ageMs }) => ageMs)),
  };
}

export async function shardDepths(
  db: Db,
  shard: number,
): Promise<{ state: JobState; n: number }[]> {
  return await db.run(DEPTHS, [shard]);
}

function messageOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}
