import { shardOfJobId } from '../core/job-id.ts';
import { mayBeRetried, RETRYABLE_STATES, type RetryWish } from '../core/retry.ts';
import { type Actor, audited } from './audit.ts';
import { type ChangeResult, changeJob } from './change-job.ts';
import type { Queryable } from './db.ts';
import { sendDueHint } from './due-hint.ts';
import { retryJobs, type RetriedJob } from './retry-jobs.ts';
import { sendWakeHint } from './wake.ts';

export async function retryJob(
  db: Queryable,
  tenant: string,
  jobId: string,
  wish: RetryWish,
  by: Actor | null = null,
): Promise<ChangeResult> {
  const shard = shardOfJobId(jobId);
  const scope = { tenant, states: RETRYABLE_STATES, endedBefore: null };
  const move = async (tx: Queryable) => (await retryJobs(tx, shard, [jobId], wish, scope))[0];
  const retry = async () => {
    const retried = await audited(db, by, move, (row) =>
      row ? { tenant, action: 'job.retry', subject: jobId, ...difference(row, wish) } : null,
    );
    if (!retried) return null;
    await tellOthers(db, retried).catch(() => undefined);
    return retried.state;
  };
  return await changeJob(db, tenant, jobId, retry, (state) => !mayBeRetried(state));
}

/** Params may hold secrets: that they were edited is told here, what they were by the job itself. */
function difference({ was, state }: RetriedJob, { mode, paramsJson }: RetryWish) {
  const edited = paramsJson === null ? {} : { paramsEdited: true };
  return { before: { status: was }, after: { status: state, mode, ...edited } };
}

async function tellOthers(db: Queryable, retried: RetriedJob): Promise<void> {
  if (retried.state === 'queued') await sendWakeHint(db, [retried]);
  else await sendDueHint(db, { kind: 'jobs', inMs: retried.dueInMs ?? 0 });
}
