import type { BeatSample } from '../../core/queue/lease.ts';
import { type Queryable, statement } from '../connection/db.ts';

/**
 * A worker that beats in Redis has a long lease. When it dies, its beats are missing long before the
 * lease is over; yet they may be missing for a hundred other reasons. So a missing beat takes
 * nothing from anybody. It is a question, put to the worker in the database, in two steps:
 *
 * 1. `suspected_at` is set. A worker that is alive looks at its row with every heartbeat, sees this,
 *    and renews, which clears it.
 * 2. If it is still set when somebody asks again, the lease is shortened to `contact_ms` from now.
 *
 * Why that is safe: a worker has stopped everything `contact_ms` after its last look. If it looked
 * after step 1 was committed, it saw the mark and renewed, or could not and does not count that
 * look. If it looked before, that was before step 2 as well, so it stops before the shorter lease
 * ends. One step would not do: a look could miss a change that is made but not committed.
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
  `update longshore.worker w
   set suspected_at = coalesce(w.suspected_at, clock_timestamp()),
       lease_until = case when w.suspected_at is null then w.lease_until else
         least(w.lease_until, clock_timestamp() + make_interval(secs => w.contact_ms / 1000.0)) end
   where w.shard = $1 and w.instance = any ($2::uuid[]) and w.dead_at is null
     and w.contact_ms is not null
   returning w.instance as worker,
     (extract(epoch from w.lease_until - clock_timestamp()) * 1000)::float8 as "leaseMs"`,
);

/** Workers that say they beat, with jobs that run for so long that there must have been a beat. */
export async function findBeating(
  db: Queryable,
  shard: number,
  ttlMs: number,
): Promise<BeatSample[]> {
  return await db.run(FIND_BEATING, [shard, ttlMs]);
}

/** Workers whose lease is over, not declared dead yet. */
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
