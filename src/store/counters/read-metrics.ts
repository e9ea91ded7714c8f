import type { JobState } from '../../core/job/job.ts';
import type { Transport } from '../../core/queue/worker.ts';
import { TARGET_SECONDS_DEFAULT } from '../../core/queue/wanted-slots.ts';
import { scaleView } from '../../core/views/scale.ts';
import { jobsByState, type LiveState } from '../../core/shards/shards.ts';
import { type Db, statement } from '../connection/db.ts';
import { findHolder, type Holder, type TableHealth, tableHealth } from '../connection/health.ts';
import { readSuspended, type Suspended } from './read-suspended.ts';
import { readScale } from './read-scale.ts';
import { shardDepths } from './read-shards.ts';
import { oldestInShard } from './read-stats.ts';

/** Metrics of the whole cluster: the counters and a few index reads. */
export interface ClusterRows {
  moves: readonly Move[];
  spans: readonly Span[];
  oldest: readonly { key: string; ageMs: number }[];
  suspended: readonly Suspended[];
  workers: readonly {
    status: 'active' | 'draining' | 'dead';
    transport: Transport;
    workers: number;
    slots: number;
  }[];
  /** The jobs that workers hold. */
  held: readonly { transport: Transport; jobs: number }[];
  /** The slots that the load needs. */
  wantedSlots: number;
  /** The load of each shard, where there are several. */
  shards: readonly ShardLoad[];
  /** How late the most overdue scheduled job is, and how far the counters are behind. */
  lateMs: number;
  counterLagMs: number;
  tables: readonly TableHealth[];
  holder: Holder | null;
}

export interface ShardLoad {
  jobs: Record<LiveState, number>;
  oldestAgeMs: number;
  lateMs: number;
}

/** All moves of the jobs of a definition. `first` is its oldest queue. */
export interface Move {
  key: string;
  first: number;
  was: JobState | null;
  state: JobState | null;
  code: string | null;
  attempt: number | null;
  n: number;
}

/** Histogram of all time: of waits when `state` is running, else of run times. */
export interface Span {
  key: string;
  state: JobState;
  bucket: number;
  n: number;
  ms: number;
}

const MOVES = statement<Move>(
  'read_moves',
  `select l.key, min(l.queue) as first, t.was, t.state, t.code, t.attempt, sum(t.n)::bigint as n
   from longshore.counter t join longshore.queue l on l.shard = $1 and l.queue = t.queue
   where t.shard = $1
   group by l.key, t.was, t.state, t.code, t.attempt`,
);

const SPANS = statement<Span>(
  'read_spans_ever',
  `select l.key, s.state, s.bucket, sum(s.n)::bigint as n, sum(s.ms) as ms
   from longshore.queue l cross join lateral (
     select s.state, s.bucket, s.n, s.ms from longshore.counter_span s
     where s.shard = $1 and s.queue = l.queue and s.slot = '-infinity'
   ) s
   where l.shard = $1
   group by l.key, s.state, s.bucket`,
);

const DELAYS = statement<{ late_ms: number; counter_lag_ms: number }>(
  'read_delays',
  `select
     coalesce((select extract(epoch from clock_timestamp() - w.run_at) * 1000
       from longshore.waiting w
       where w.shard = $1 and w.state in ('scheduled', 'retrying', 'suspended')
         and w.run_at <= (select clock_timestamp())
       order by w.run_at limit 1), 0)::float8 as late_ms,
     coalesce((select extract(epoch from clock_timestamp() - f.at) * 1000
       from longshore.counter_rollup f where f.shard = $1), 0)::float8 as counter_lag_ms`,
);

/** Every worker has a row in each shard, so one shard is enough. */
const WORKERS = statement<ClusterRows['workers'][number]>(
  'count_workers',
  `select case when dead_at is not null then 'dead' when draining_at is not null then 'draining'
       else 'active' end as status,
     case when tenant is null then 'database' else 'http' end as transport,
     count(*)::int as workers, sum(slots)::int as slots
   from longshore.worker where shard = 0 group by 1, 2`,
);

const HELD = statement<ClusterRows['held'][number]>(
  'count_held',
  `select case when w.tenant is null then 'database' else 'http' end as transport,
     sum((select count(*) from longshore.running r
       where r.shard = $1 and r.worker = w.instance))::int as jobs
   from longshore.worker w
   where w.shard = $1 and w.dead_at is null
   group by 1`,
);

export async function readCluster(db: Db): Promise<ClusterRows> {
  const shards = Array.from({ length: db.shards }, (_, shard) => shard);
  const all = async <Row>(read: (shard: number) => Promise<Row[]>) =>
    (await Promise.all(shards.map(read))).flat();
  const moves = await all(async (shard) => await db.run(MOVES, [shard]));
  const spans = await all(async (shard) => await db.run(SPANS, [shard]));
  const delays = await all(async (shard) => await db.run(DELAYS, [shard]));
  const oldest = await Promise.all(
    shards.map(async (shard) => await oldestInShard(db, shard, null, false)),
  );
  const loads = await all(async (shard) => {
    if (shards.length === 1) return [];
    const jobs = jobsByState(await shardDepths(db, shard));
    const oldestAgeMs = Math.max(0, ...(oldest[shard] ?? []).map(({ ageMs }) => ageMs));
    return [{ jobs, oldestAgeMs, lateMs: delays[shard]?.late_ms ?? 0 }];
  });
  const target = { targetSeconds: TARGET_SECONDS_DEFAULT, allTenants: true };
  return {
    moves,
    spans,
    oldest: oldest.flat(),
    shards: loads,
    suspended: await all(async (shard) => await readSuspended(db, shard)),
    workers: await db.run(WORKERS),
    held: await all(async (shard) => await db.run(HELD, [shard])),
    wantedSlots: scaleView(await readScale(db, null), target).wantedSlots,
    lateMs: Math.max(0, ...delays.map((row) => row.late_ms)),
    counterLagMs: Math.max(0, ...delays.map((row) => row.counter_lag_ms)),
    tables: await tableHealth(db),
    holder: await findHolder(db),
  };
}
