import { BATCH_KEY } from '../../core/batch/batch.ts';
import type { JobState } from '../../core/job/job.ts';
import { endCancelled } from './end-cancelled.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { permit, TO_PERMIT } from '../limits/limiters.ts';
import { moves, counters } from '../counters/counter-moves.ts';
import type { LevelHint } from '../connection/wake.ts';

/**
 * Like `store/change/cancel-job.ts`, for many jobs. Rows are locked in the order of ids. Batches are left out:
 * their jobs are cancelled with them (`store/batches/cancel-batch.ts`).
 */

const CANCEL_WAITING = statement<{
  id: string | null;
  queue: number | null;
  rank: number;
  limiter: string | null;
}>(
  'cancel_many_waiting',
  `with gone as materialized (
    select w.* from unnest($2::uuid[]) as wanted(id) cross join lateral (
      select * from longshore.waiting w
      where w.shard = $1 and w.id = wanted.id and w.state = any ($4::longshore.job_state[])
        and (select tenant from longshore.queue q
          where q.shard = $1 and q.queue = w.queue and q.key <> '${BATCH_KEY}') = $3
      limit 1 for update
    ) w
  ),
  left_waiting as (
    delete from longshore.waiting where shard = $1 and id = any (array(select id from gone))
  ),
  ${endCancelled('$5::text')}
  select e.id, h.queue, h.rank, null as limiter from ended e left join hook h on h.parent_id = e.id
  union all
  select null, null, null, g.limiter from (${TO_PERMIT}) g`,
);

const CANCEL_RUNNING = statement<{ id: string; worker: string }>(
  'cancel_many_running',
  `with asked as materialized (
    select r.id, r.queue, r.state from unnest($2::uuid[]) as wanted(id) cross join lateral (
      select * from longshore.running r
      where r.shard = $1 and r.id = wanted.id and r.state = 'running'
        and r.state = any ($4::longshore.job_state[])
        and (select tenant from longshore.queue q where q.shard = $1 and q.queue = r.queue) = $3
      limit 1 for update
    ) r
  ),
  ${counters(moves('state', "'cancelling'", 'asked'))}
  update longshore.running r set state = 'cancelling', cancel_requested_at = clock_timestamp(),
    cancel_requested_by = $5::text
  where r.shard = $1 and r.id = any (array(select id from asked))
  returning r.id, r.worker`,
);

const STILL_OPEN = statement<{ id: string }>(
  'still_open',
  `select wanted.id from unnest($2::uuid[]) as wanted(id)
   where coalesce(
     (select w.state from longshore.waiting w where w.shard = $1 and w.id = wanted.id limit 1),
     (select r.state from longshore.running r where r.shard = $1 and r.id = wanted.id limit 1)
   ) = any ($3::longshore.job_state[])`,
);

export interface CancelledJobs {
  ids: string[];
  /** Levels that got hooks, or blocked jobs that now have a permit. */
  levels: LevelHint[];
  /** Workers that run jobs with a new cancel request. */
  workers: string[];
}

const TRIES = 5;

/**
 * Cancels the jobs that are in one of the states. A job can be claimed or returned during the
 * search, so jobs that were not found and have not ended are searched again.
 */
export async function cancelJobs(
  db: Queryable,
  shard: number,
  ids: readonly string[],
  { tenant, states, by }: { tenant: string; states: readonly JobState[]; by: string | null },
): Promise<CancelledJobs> {
  const done = new Set<string>();
  const levels: LevelHint[] = [];
  const workers = new Set<string>();
  // A job that is `cancelling` needs no second request.
  const open = states.filter((state) => state !== 'cancelling');
  let left = ids.toSorted();
  for (let tries = 0; left.length > 0 && tries < TRIES; tries += 1) {
    const gone = await db.run(CANCEL_WAITING, [shard, left, tenant, states, by]);
    for (const { id, queue, rank } of gone) {
      if (id !== null) done.add(id);
      if (queue !== null) levels.push({ shard, queue, rank });
    }
    const freed = gone.flatMap(({ limiter }) => limiter ?? []);
    levels.push(...(await permit(db, shard, freed)).levels);
    for (const { id, worker } of await db.run(CANCEL_RUNNING, [shard, left, tenant, states, by])) {
      done.add(id);
      workers.add(worker);
    }
    left = left.filter((id) => !done.has(id));
    if (left.length > 0) left = (await db.run(STILL_OPEN, [shard, left, open])).map(idOf);
  }
  return { ids: [...done], levels, workers: [...workers] };
}

function idOf({ id }: { id: string }): string {
  return id;
}
