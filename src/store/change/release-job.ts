import type { JobState } from '../../core/job/job.ts';
import { VERSION_WHEN_DUE } from '../../core/job/new-job.ts';
import { routeJobs } from '../claim/route-jobs.ts';
import { shardOfJobId } from '../../core/job/job-id.ts';
import { changeableQueue } from '../limits/changeable-queue.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { type Actor, audited } from '../access/audit.ts';
import { permit, COUNT_BLOCKED, blocks } from '../limits/limiters.ts';
import type { ChangeResult } from '../../core/job/change-result.ts';
import { changeJob } from './change-job.ts';
import { moves, counters } from '../counters/counter-moves.ts';
import { sendWakeHint } from '../connection/wake.ts';

/** Releases a held job: it becomes `queued`, or `scheduled` if its time is in the future. */
const RELEASE = statement<{
  state: JobState;
  queue: number;
  rank: number;
  version: number;
  limiters: string[];
}>(
  'release_job',
  `with entered as (
     update longshore.waiting w
     set state = case when w.run_at > c.at then 'scheduled' else 'queued' end::longshore.job_state,
       seq = case when w.run_at > c.at or ${blocks('w')} then null else c.seq end,
       blocked = case when w.run_at > c.at or ${blocks('w')} is not true then null else c.seq end,
       queued_at = case when w.run_at > c.at then null else c.at end
     from (
       select at, (extract(epoch from at) * 1000000)::bigint as seq from clock_timestamp() as at
     ) c
     where w.shard = $1 and w.id = $2 and w.state = 'created'
       and ${changeableQueue('w.queue')}
     returning w.state, w.queue, w.rank, w.key_limiter, w.blocked
   ),
   ${COUNT_BLOCKED}, ${counters(moves("'created'", 'state', 'entered'))}
   select e.state, e.queue, e.rank, q.version, array(select limiter::text from counted) as limiters
   from entered e cross join lateral (
     select version from longshore.queue where shard = $1 and queue = e.queue limit 1
   ) q`,
);

export async function releaseJob(
  db: Queryable,
  tenant: string,
  jobId: string,
  by: Actor | null = null,
): Promise<ChangeResult> {
  const shard = shardOfJobId(jobId);
  const move = async (tx: Queryable) => (await tx.run(RELEASE, [shard, jobId, tenant]))[0];
  const entry = { tenant, action: 'job.release', subject: jobId, before: { status: 'created' } };
  const release = async () => {
    const released = await audited(db, by, move, (row) =>
      row ? { ...entry, after: { status: row.state } } : null,
    );
    if (released?.state === 'queued') {
      const { queue, rank, version, limiters } = released;
      const { levels } = await permit(db, shard, limiters);
      const routed = version === VERSION_WHEN_DUE ? await routeJobs(db, shard, [queue]) : [];
      const hints = [{ shard, queue, rank }, ...levels, ...routed];
      await sendWakeHint(db, hints).catch(() => undefined);
    }
    return released?.state ?? null;
  };
  return await changeJob(db, tenant, jobId, release, (state) => state !== 'created');
}
