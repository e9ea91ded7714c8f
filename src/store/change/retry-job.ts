import type { JobState } from '../../core/job/job.ts';
import { shardOfJobId } from '../../core/job/job-id.ts';
import { mayBeRetried, RETRYABLE_STATES, type RetryRequest } from '../../core/failure/retry.ts';
import { type Actor, audit } from '../access/audit.ts';
import type { ChangeResult } from '../../core/job/change-result.ts';
import { changeJob } from './change-job.ts';
import { findUnsuccessfulParent } from '../edges/unsuccessful-parent.ts';
import { inTransaction, type Queryable } from '../connection/db.ts';
import { sendDueHint } from '../connection/due-hint.ts';
import { retryJobs, type RetriedJob } from './retry-jobs.ts';
import { retakeUniqueKeys } from '../enqueue/unique-jobs.ts';
import { sendWakeHint } from '../connection/wake.ts';

export async function retryJob(
  db: Queryable,
  tenant: string,
  jobId: string,
  request: RetryRequest,
  by: Actor | null = null,
): Promise<ChangeResult> {
  const shard = shardOfJobId(jobId);
  const scope = { tenant, states: RETRYABLE_STATES, endedBefore: null };
  const move = async (tx: Queryable) => {
    const parent = await findUnsuccessfulParent(tx, shard, jobId, tenant);
    if (parent !== null) throw new ParentFailed(parent);
    const holder = (await retakeUniqueKeys(tx, shard, [jobId], tenant)).get(jobId);
    if (holder !== undefined) throw new KeyTaken(holder);
    const [retried] = await retryJobs(tx, shard, [jobId], request, scope);
    if (retried && by) {
      const entry = { tenant, action: 'job.retry', subject: jobId };
      await audit(tx, by, { ...entry, ...difference(retried, request) });
    }
    return retried;
  };
  const retry = async () => {
    const retried = await inTransaction(db, move);
    if (!retried) return null;
    await sendHints(db, retried).catch(() => undefined);
    return retried.state;
  };
  try {
    const over = (state: JobState) => !mayBeRetried(state);
    return await changeJob(db, tenant, jobId, retry, over, request.paramsJson !== null);
  } catch (error) {
    if (error instanceof ParentFailed) return { kind: 'parent', id: error.parent };
    if (error instanceof KeyTaken) return { kind: 'taken', by: error.holder };
    throw error;
  }
}

/** Its parent did not succeed, and it must not run before. */
class ParentFailed extends Error {
  readonly parent: string;

  constructor(parent: string) {
    super(`the parent ${parent} did not succeed`);
    this.parent = parent;
  }
}

/** Rolls back the transaction. */
class KeyTaken extends Error {
  readonly holder: string;

  constructor(holder: string) {
    super(`the unique key is held by ${holder}`);
    this.holder = holder;
  }
}

/**
 * Params may contain secrets: the audit entry only says that they were edited, the job's history
 * has the earlier ones.
 */
function difference({ was, state }: RetriedJob, { mode, paramsJson }: RetryRequest) {
  const edited = paramsJson === null ? {} : { paramsEdited: true };
  return { before: { status: was }, after: { status: state, mode, ...edited } };
}

async function sendHints(db: Queryable, retried: RetriedJob): Promise<void> {
  if (retried.state === 'queued') await sendWakeHint(db, [retried]);
  else if (retried.state === 'scheduled')
    await sendDueHint(db, { kind: 'jobs', inMs: retried.dueInMs ?? 0, shard: retried.shard });
}
