import type { JobState } from '../../core/job/job.ts';
import { changeableQueue } from '../limits/changeable-queue.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { type Actor, audited } from '../access/audit.ts';
import type { ChangeResult } from '../../core/job/change-result.ts';
import { changeJob } from './change-job.ts';
import { shardOfJobId } from '../../core/job/job-id.ts';
import { TELL_ENDED } from '../claim/delivery-jobs.ts';
import { permit, GIVE_BACK, LEFT_WAITING, TO_PERMIT } from '../limits/limiters.ts';
import { ENDED, MAKE_HOOKS } from '../claim/hook-jobs.ts';
import { sendBeatHint } from '../connection/listen.ts';
import { withPartitions } from '../connection/partitions.ts';
import { moves, counters, WITH_DELIVERIES, WITH_HOOKS } from '../counters/counter-moves.ts';
import { sendWakeHint } from '../connection/wake.ts';

interface CancelledRow {
  state: JobState;
  was: JobState;
  /** Of a hook that was made. */
  queue: number | null;
  rank: number;
  limiters: string[];
}

/**
 * Cancelling a job that nobody runs ends it here and now, hooks and all. A running job is only asked:
 * its state becomes `cancelling`, and the claim that owns it ends it. The answer of the worker's next
 * heartbeat carries the request; the hint sent here makes that heartbeat come at once.
 */

/** Ends the rows of `gone`, which have left `waiting`, as cancelled by the actor, which is SQL. */
export const endCancelled = (actor: string) => `ended as (
    insert into longshore.done (shard, id, queue, state, rank, attempts, max_attempts, claim_no,
      interruptions, queued_at, cancel_requested_at, cancel_requested_by, finished_at)
    select shard, id, queue, 'cancelled', rank, attempts, max_attempts, claim_no,
      interruptions, queued_at, at, ${actor}, at
    from gone, (select clock_timestamp() as at) c
    returning ${ENDED}
  ),
  ${LEFT_WAITING},
  ${GIVE_BACK},
  ${MAKE_HOOKS}, ${TELL_ENDED},
  ${counters(moves('state', "'cancelled'", 'gone'), WITH_HOOKS, WITH_DELIVERIES)}`;

const CANCEL_WAITING = statement<CancelledRow>(
  'cancel_waiting',
  `with gone as (
    delete from longshore.waiting w
    where w.shard = $1 and w.id = $2
      and ${changeableQueue('w.queue')}
    returning *
  ),
  ${endCancelled('$4::text')}
  select e.state, (select g.state from gone g) as was, h.queue, h.rank, array(${TO_PERMIT}) as limiters
  from ended e left join hook h on true`,
);

const CANCEL_RUNNING = statement<{ state: JobState; worker: string }>(
  'cancel_running',
  `with found as materialized (
     select r.id, r.queue, r.state from longshore.running r
     where r.shard = $1 and r.id = $2
       and ${changeableQueue('r.queue')}
     for update
   ),
   asked as (
     update longshore.running r
     set state = 'cancelling',
         cancel_requested_at = coalesce(r.cancel_requested_at, clock_timestamp()),
         cancel_requested_by = case when r.cancel_requested_at is null then $4::text
           else r.cancel_requested_by end
     where r.shard = $1 and r.id = any (array(select id from found))
     returning r.state, r.worker
   ),
   ${counters(moves('state', "'cancelling'", "found where state = 'running'"))}
   select state, worker from asked`,
);

export async function cancelJob(
  db: Queryable,
  tenant: string,
  jobId: string,
  by: Actor | null = null,
): Promise<ChangeResult> {
  const shard = shardOfJobId(jobId);
  const values = [shard, jobId, tenant, by?.name ?? null];
  const entry = (before: JobState, after: JobState) => ({
    tenant,
    action: 'job.cancel',
    subject: jobId,
    before: { status: before },
    after: { status: after },
  });
  return await changeJob(db, tenant, jobId, async () => {
    const end = async (tx: Queryable) => await tx.run(CANCEL_WAITING, values);
    const ended = await withPartitions(db, async () =>
      audited(db, by, end, ([row]) => (row ? entry(row.was, row.state) : null)),
    );
    const levels = ended.flatMap(({ queue, rank }) =>
      queue === null ? [] : { shard, queue, rank },
    );
    levels.push(...(await permit(db, shard, ended[0]?.limiters ?? [])).levels);
    if (levels.length > 0) await sendWakeHint(db, levels).catch(() => undefined);
    if (ended[0]) return ended[0].state;
    const ask = async (tx: Queryable) => await tx.run(CANCEL_RUNNING, values);
    const [asked] = await audited(db, by, ask, ([row]) =>
      row ? entry('running', row.state) : null,
    );
    if (!asked) return null;
    await sendBeatHint(db, asked.worker).catch(() => undefined);
    return asked.state;
  });
}
