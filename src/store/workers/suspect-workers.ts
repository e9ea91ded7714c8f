import type { BeatSample } from '../../core/queue/lease.ts';
import { type Queryable, statement } from '../connection/db.ts';

/**
 * A worker that sends heartbeats to Redis has a long lease. When it dies, its heartbeats stop long
 * before the lease ends; but they can be missing for other reasons too. So a missing heartbeat
 * takes no job away. It makes the worker suspected, in the database, in two steps:
 *
 * 1. `suspected_at` is set. A live worker reads its row with every heartbeat, sees this and renews
 *    its lease, which clears it.
 * 2. If it is still set at the next check, the lease is shortened to `contact_ms` from now.
 *
 * Why this is safe: a worker stops its jobs `contact_ms` after its last read. If it read after the
 * commit of step 1, it saw the mark and renewed; if it could not renew, it does not count that
 * read. If it read before, that was also before step 2, so it stops before the shorter lease ends.
 * One step would not be enough: a read can miss a change that is not yet committed.
 */

const SAMPLE = 8;

const sampled = (jobs: string, workers: string) => `
  select w.instance as worker, array(
    select r.id from longshore.running r
    where r.shard = $1 and r.worker = w.instance ${jobs} limit ${SAMPLE}
  ) as "jobIds"
  from longshore.worker w
  where w.shard = $1 and w.dead_at is null and ${workers}`;

const FIND_BEATING = statement<BeatSample>(
  'find_beating',
  sampled(
    'and r.started_at < clock_timestamp() - make_interval(secs => $2::float8 / 1000)',
    'w.contact_ms is not null',
  ),
);

const FIND_LATE = statement<BeatSample>(
  'find_late',
  sampled('', 'w.lease_until < clock_timestamp()'),
);

const SUSPECT = statement<{ worker: string; leaseMs: number }>(
  'suspect_workers',
  `with late as materialized (
     select instance, clock_timestamp() as at,
       clock_timestamp() + make_interval(secs => contact_ms / 1000.0) as until
     from longshore.worker where shard = $1 and instance = any ($2::uuid[])
   )
   update longshore.worker w
   set suspected_at = coalesce(w.suspected_at, l.at),
       lease_until = case when w.suspected_at is null then w.lease_until
         else least(w.lease_until, l.until) end
   from late l
   where w.instance = l.instance and w.shard = $1 and w.instance = any ($2::uuid[]) and w.dead_at is null
     and w.contact_ms is not null
   returning w.instance as worker,
     (extract(epoch from w.lease_until - l.at) * 1000)::float8 as "leaseMs"`,
);

/** Workers with heartbeats in Redis and jobs that have run long enough to need one. */
export async function findBeating(
  db: Queryable,
  shard: number,
  ttlMs: number,
): Promise<BeatSample[]> {
  return await db.run(FIND_BEATING, [shard, ttlMs]);
}

/** Workers whose lease has ended and that are not yet declared dead. */
export async function findLate(db: Queryable, shard: number): Promise<BeatSample[]> {
  return await db.run(FIND_LATE, [shard]);
}

export async function suspectWorkers(
  db: Queryable,
  shard: number,
  workers: readonly string[],
): Promise<{ worker: string; leaseMs: number }[]> {
  return workers.length === 0 ? [] : await db.run(SUSPECT, [shard, workers]);
}
