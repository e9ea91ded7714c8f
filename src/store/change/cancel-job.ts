import type { JobState } from '../../core/job/job.ts';
import { changeableQueue } from '../limits/changeable-queue.ts';
import { NOW_WITHIN } from '../connection/backend.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { type Actor, audited } from '../access/audit.ts';
import type { ChangeResult } from '../../core/job/change-result.ts';
import { changeJob } from './change-job.ts';
import { endCancelled } from './end-cancelled.ts';
import { shardOfJobId } from '../../core/job/job-id.ts';
import { resolveSoon } from '../edges/resolve-ended.ts';
import { permit, TO_PERMIT } from '../limits/limiters.ts';
import { sendBeatHint } from '../connection/listen.ts';
import { withPartitions } from '../connection/partitions.ts';
import { moves, counters } from '../counters/counter-moves.ts';
import { sendWakeHint } from '../connection/wake.ts';

interface CancelledRow {
  state: JobState;
  was: JobState;
  watched: boolean | null;
  /** The queue of a hook job. */
  queue: number | null;
  rank: number;
  limiters: string[];
}

/**
 * Cancelling a waiting job ends it in this statement and creates its hooks. For a running job it
 * is a request: the state becomes `cancelling`, and the claim that owns the job ends it. The
 * answer to the worker's next heartbeat contains the request; a hint makes that heartbeat come at
 * once.
 */

const CANCEL_WAITING = statement<CancelledRow>(
  'cancel_waiting',
  `with gone as (
    delete from longshore.waiting w
    where w.shard = $1 and w.id = $2
      and ${changeableQueue('w.queue')}
    returning *
  ),
  ${endCancelled('$4::text')}
  select e.state, (select g.state from gone g) as was, (select g.watched from gone g) as watched, h.queue, h.rank, array(${TO_PERMIT}) as limiters
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
         cancel_requested_at = coalesce(r.cancel_requested_at, ${NOW_WITHIN}),
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
    if (ended[0]?.watched) await resolveSoon(db, shard);
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
