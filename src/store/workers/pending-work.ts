import { type Queryable, statement } from '../connection/db.ts';

/** What there is to do in a shard for the loops of a scheduler. */
export interface PendingWork {
  /** A lease has expired, or a dead worker owns jobs. */
  lost: boolean;
  /** There are limiters. */
  limiters: boolean;
  /** Jobs were counted lately (`store/counters/roll-up.ts`). */
  counted: boolean;
  /** Jobs have ended for which others wait. */
  ended: boolean;
  /** The time until a job is due or expires, or a key has its next start; null when none does. */
  dueInMs: number | null;
  /** Jobs are queued or running; false where only one shard exists, which is never quiet. */
  busy: boolean;
  /** The time until a lease expires, unless it is renewed; null without workers. */
  leaseEndsInMs: number | null;
}

/** One read in place of the first read of each loop. Counters older than ten seconds are rare. */
const PENDING = statement<PendingWork>(
  'find_pending_work',
  `with clock as materialized (select clock_timestamp() as at)
  select
    exists (
      select 1 from longshore.worker w
      where w.shard = $1 and w.dead_at is null and w.lease_until < (select at from clock)
    ) or exists (
      select 1 from longshore.worker w cross join lateral (
        select r.id from longshore.running r where r.shard = $1 and r.worker = w.instance limit 1
      ) r
      where w.shard = $1 and w.dead_at is not null
    ) as lost,
    (select limiter from longshore.limiter
     where shard = $1 and limiter > 0 order by limiter limit 1) is not null as limiters,
    (select d.at from longshore.counter_delta d
     where d.shard = $1 and d.at > (select at from clock) - interval '10 seconds'
     order by d.at limit 1) is not null as counted,
    exists (select 1 from longshore.ended_watched e where e.shard = $1) as ended,
    (extract(epoch from least(
      (select w.run_at from longshore.waiting w
       where w.shard = $1 and w.state in ('scheduled', 'retrying', 'suspended')
         and w.run_at > '-infinity'
       order by w.run_at limit 1),
      (select w.expires_at from longshore.waiting w
       where w.shard = $1 and w.expires_at > '-infinity' order by w.expires_at limit 1),
      (select g.next_at from longshore.limiter g
       where g.shard = $1 and g.next_at > '-infinity' order by g.next_at limit 1)
      ) - (select at from clock)) * 1000)::float8 as "dueInMs",
    $2::boolean and (
      (select r.id from longshore.running r
       where r.shard = $1 and r.id > '00000000-0000-0000-0000-000000000000'
       order by r.id limit 1) is not null
      or (select w.queue from longshore.waiting w
          where w.shard = $1 and w.queue > 0 and w.seq is not null
          order by w.queue limit 1) is not null) as busy,
    (extract(epoch from (
      select min(w.lease_until) from longshore.worker w where w.shard = $1 and w.dead_at is null
      ) - (select at from clock)) * 1000)::float8 as "leaseEndsInMs"`,
);

export async function findPendingWork(
  db: Queryable & { shards: number },
  shard: number,
): Promise<PendingWork> {
  const [row] = await db.run(PENDING, [shard, db.shards > 1]);
  return row ?? ALL_KINDS;
}

const ALL_KINDS: PendingWork = {
  lost: true,
  limiters: true,
  counted: true,
  ended: true,
  dueInMs: 0,
  busy: true,
  leaseEndsInMs: 0,
};
