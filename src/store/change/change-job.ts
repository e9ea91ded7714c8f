import type { ChangeResult } from '../../core/job/change-result.ts';
import { isTerminal, type JobState } from '../../core/job/job.ts';
import { isJobId, shardOfJobId } from '../../core/job/job-id.ts';
import { changeRefusal } from '../../core/job/system-job.ts';
import { type Queryable, statement } from '../connection/db.ts';

const LOOK = statement<{ state: JobState | null; key: string }>(
  'read_changeable_job',
  `select coalesce(
     (select state from longshore.waiting where shard = $1 and id = $2),
     (select state from longshore.running where shard = $1 and id = $2),
     (select state from longshore.done where shard = $1 and id = $2)) as state,
     (select key from longshore.queue q where q.shard = $1 and q.queue = j.queue) as key
   from longshore.job j
   where j.shard = $1 and j.id = $2
     and (select tenant from longshore.queue q where q.shard = $1 and q.queue = j.queue) = $3`,
);

const TRIES = 5;

/**
 * A job may leave its table just before the change reads it. So a change that finds no row reads
 * the state of the job, and tries again unless that state forbids the change for good. `change`
 * returns the new state, or null when it found no row.
 */
export async function changeJob(
  db: Queryable,
  tenant: string,
  jobId: string,
  change: () => Promise<JobState | null>,
  forbids: (state: JobState) => boolean = isTerminal,
  editsParams = false,
): Promise<ChangeResult> {
  if (!isJobId(jobId)) return { kind: 'missing' };
  let status: JobState | null = null;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const changed = await change();
    if (changed) return { kind: 'changed', status: changed };
    const [seen] = await db.run(LOOK, [shardOfJobId(jobId), jobId, tenant]);
    if (!seen?.state) return { kind: 'missing' };
    const why = changeRefusal(seen.key, editsParams);
    if (why !== null) return { kind: 'forbidden', why };
    status = seen.state;
    if (forbids(status)) break;
  }
  return status ? { kind: 'refused', status } : { kind: 'missing' };
}
