import { shardOfJobId } from '../core/job-id.ts';
import { mayBeRetried, RETRYABLE_STATES, type RetryWish } from '../core/retry.ts';
import { type ChangeResult, changeJob } from './change-job.ts';
import type { Queryable } from './db.ts';
import { sendDueHint } from './due-hint.ts';
import { retryJobs, type RetriedJob } from './retry-jobs.ts';
import { sendWakeHint } from './wake.ts';

/** `told` is given what was there before, once it has happened. */
export async function retryJob(
  db: Queryable,
  tenant: string,
  jobId: string,
  wish: RetryWish,
  told: (retried: RetriedJob) => void = () => undefined,
): Promise<ChangeResult> {
  const shard = shardOfJobId(jobId);
  const scope = { tenant, states: RETRYABLE_STATES, endedBefore: null };
  const retry = async () => {
    const [retried] = await retryJobs(db, shard, [jobId], wish, scope);
    if (!retried) return null;
    told(retried);
    await tellOthers(db, retried).catch(() => undefined);
    return retried.state;
  };
  return await changeJob(db, tenant, jobId, retry, (state) => !mayBeRetried(state));
}

async function tellOthers(db: Queryable, retried: RetriedJob): Promise<void> {
  if (retried.state === 'queued') await sendWakeHint(db, [retried]);
  else await sendDueHint(db, { kind: 'jobs', inMs: retried.dueInMs ?? 0 });
}
