import { shardOfJobId } from '../../core/job/job-id.ts';
import { RETRYABLE_STATES } from '../../core/failure/retry.ts';
import { type Actor, audited } from '../access/audit.ts';
import { retryJob } from '../change/retry-job.ts';
import { retryJobs } from '../change/retry-jobs.ts';
import { inTransaction, type Queryable, statement } from '../connection/db.ts';
import { filterOnly } from '../connection/planner.ts';
import { sendWakeHint } from '../connection/wake.ts';
import { retakeUniqueKeys } from '../enqueue/unique-jobs.ts';

/** Jobs of one transaction. */
const PART = 500;

const UNSUCCESSFUL = statement<{ id: string; position: number }>(
  'unsuccessful_batch_jobs',
  `select on_id as id, position from longshore.edge
   where shard = $1 and job_id = $2 and kind = 'child' and position > $3
     and ${filterOnly("ended in ('failed', 'cancelled')")}
   order by position limit $4`,
);

const AGAIN = { mode: 'now', runAt: null, paramsJson: null } as const;

/**
 * Retries the jobs of a batch that failed or were cancelled, then the batch. The jobs come first: a batch
 * that finds no open job ends again. A call that was interrupted can be repeated. Returns the number of
 * jobs; those that are deleted are left out.
 */
export async function retryBatchJobs(
  db: Queryable,
  tenant: string,
  batchId: string,
  by: Actor | null,
): Promise<number> {
  const shard = shardOfJobId(batchId);
  let retried = 0;
  for (let after = -1; ;) {
    const rows = await db.run(UNSUCCESSFUL, [shard, batchId, after, PART]);
    for (const [of, here] of Map.groupBy(rows, ({ id }) => shardOfJobId(id))) {
      const ids = here.map(({ id }) => id);
      retried += await retryPart(db, { tenant, batchId, shard: of, ids, by });
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PART) return retried;
    after = last.position;
  }
}

interface Part {
  tenant: string;
  batchId: string;
  shard: number;
  ids: readonly string[];
  by: Actor | null;
}

async function retryPart(
  db: Queryable,
  { tenant, batchId, shard, ids, by }: Part,
): Promise<number> {
  const scope = { tenant, states: RETRYABLE_STATES, endedBefore: null };
  const work = async (tx: Queryable) => {
    const taken = await retakeUniqueKeys(tx, shard, ids, tenant);
    const free = ids.filter((id) => !taken.has(id));
    return await retryJobs(tx, shard, free, AGAIN, scope);
  };
  const jobs = await inTransaction(db, async (tx) =>
    audited(tx, by, work, ({ length }) =>
      length === 0
        ? null
        : { tenant, action: 'batch.retry_jobs', subject: batchId, after: { jobs: length } },
    ),
  );
  const queued = jobs.filter(({ state }) => state === 'queued');
  // Workers also poll, so a hint may be lost.
  if (queued.length > 0) await sendWakeHint(db, queued).catch(() => undefined);
  return jobs.length;
}

/** Lets a batch wait for its jobs again. One that has not ended, or has succeeded, stays as it is. */
export async function retryBatch(
  db: Queryable,
  tenant: string,
  batchId: string,
  by: Actor | null,
): Promise<void> {
  await retryJob(db, tenant, batchId, AGAIN, by);
}
