import type { ChangeResult } from '../../core/job/change-result.ts';
import { OWNED_STATES, WAITING_STATES } from '../../core/job/job.ts';
import { isJobId, shardOfJobId } from '../../core/job/job-id.ts';
import { type Actor, audited } from '../access/audit.ts';
import { beginBatchCancel, settleBatchCancel } from '../batches/cancel-batch.ts';
import { inTransaction, type Queryable, statement } from '../connection/db.ts';
import { sendBeatHint } from '../connection/listen.ts';
import { withPartitions } from '../connection/partitions.ts';
import { ONCE_PER_ROW } from '../connection/planner.ts';
import { sendWakeHint } from '../connection/wake.ts';
import { statesOfJobs } from '../edges/related-jobs.ts';
import { resolveSoon } from '../edges/resolve-ended.ts';
import { cancelJob } from './cancel-job.ts';
import { cancelJobs } from './cancel-jobs.ts';

const OPEN_CHILDREN = statement<{ shard: number; id: string }>(
  'open_children',
  `select e.on_shard as shard, e.on_id as id from unnest($2::uuid[]) as u(id)
   cross join lateral (
     select on_shard, on_id from longshore.edge
     where shard = $1 and job_id = u.id and kind = 'child' and ended is null ${ONCE_PER_ROW}
   ) e`,
);

const STATES = [...WAITING_STATES, ...OWNED_STATES];
const BATCH = 500;

/**
 * Cancels a job, then its open children, and theirs. The job comes first: it would go on with the
 * end of its last child. A batch begins to wait for their ends as a cancelled one
 * (`store/batches/cancel-batch.ts`). A job that has ended keeps its state; its children are cancelled, so a
 * call that was interrupted can be repeated.
 */
export async function cancelFamily(
  db: Queryable,
  tenant: string,
  jobId: string,
  by: Actor | null = null,
): Promise<ChangeResult> {
  const batch = await cancelBatchWithJobs(db, tenant, jobId, by);
  if (batch !== null) return batch;
  // A batch that only waits for a worker has no open jobs, unless it was just retried: then `onComplete`
  // has run.
  const result = await cancelJob(db, tenant, jobId, by);
  if (result.kind !== 'changed' && result.kind !== 'refused') return result;
  const cancelled = await cancelDescendants(db, tenant, jobId, by);
  if (result.kind === 'changed' || cancelled === 0) return result;
  return { kind: 'changed', status: result.status };
}

/** Cancels a job, but not its children. A batch is always cancelled with its jobs. */
export async function cancelAlone(
  db: Queryable,
  tenant: string,
  jobId: string,
  by: Actor | null = null,
): Promise<ChangeResult> {
  const batch = await cancelBatchWithJobs(db, tenant, jobId, by);
  return batch ?? (await cancelJob(db, tenant, jobId, by));
}

/** Null when it is no batch that waits for its jobs. */
async function cancelBatchWithJobs(
  db: Queryable,
  tenant: string,
  jobId: string,
  by: Actor | null,
): Promise<ChangeResult | null> {
  if (isJobId(jobId) && (await beginBatchCancel(db, tenant, shardOfJobId(jobId), jobId, by))) {
    await cancelBatchJobs(db, tenant, jobId, by);
    const status = (await statesOfJobs(db, [jobId])).get(jobId)?.status ?? 'cancelled';
    return { kind: 'changed', status };
  }
  return null;
}

/** Cancels the open jobs of a cancelled batch, which ends with the last of them. May be repeated. */
export async function cancelBatchJobs(
  db: Queryable,
  tenant: string,
  batchId: string,
  by: Actor | null,
): Promise<void> {
  await cancelDescendants(db, tenant, batchId, by);
  await settleBatchCancel(db, shardOfJobId(batchId), batchId);
}

async function cancelDescendants(
  db: Queryable,
  tenant: string,
  jobId: string,
  by: Actor | null,
): Promise<number> {
  let cancelled = 0;
  for (let level = [jobId]; level.length > 0;) {
    const children = await openChildren(db, level);
    for (const [shard, here] of Map.groupBy(children, shardOfJobId)) {
      for (let at = 0; at < here.length; at += BATCH) {
        cancelled += await cancelBatch(db, tenant, jobId, shard, here.slice(at, at + BATCH), by);
      }
    }
    level = children;
  }
  return cancelled;
}

async function openChildren(db: Queryable, parents: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const [shard, here] of Map.groupBy(parents, shardOfJobId)) {
    found.push(...(await db.run(OPEN_CHILDREN, [shard, here])).map(({ id }) => id));
  }
  return found;
}

async function cancelBatch(
  db: Queryable,
  tenant: string,
  jobId: string,
  shard: number,
  ids: readonly string[],
  by: Actor | null,
): Promise<number> {
  const scope = { tenant, states: STATES, by: by?.name ?? null };
  const work = async (tx: Queryable) => await cancelJobs(tx, shard, ids, scope);
  const {
    ids: ended,
    levels,
    workers,
  } = await withPartitions(db, async () =>
    inTransaction(db, async (tx) =>
      audited(tx, by, work, ({ ids: done }) =>
        done.length === 0
          ? null
          : { tenant, action: 'job.cancel_children', subject: jobId, after: { jobs: done.length } },
      ),
    ),
  );
  if (levels.length > 0) await sendWakeHint(db, levels).catch(() => undefined);
  for (const worker of workers) await sendBeatHint(db, worker).catch(() => undefined);
  await resolveSoon(db, shard);
  return ended.length;
}
