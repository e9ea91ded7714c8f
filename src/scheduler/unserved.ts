import { failureOf } from '../core/failure/failure.ts';
import type { Log } from '../runtime/log.ts';
import type { Service } from '../runtime/service.ts';
import { ShardPollers } from '../runtime/shard-pollers.ts';
import { JobLog } from '../signals/job-log.ts';
import type { Db } from '../store/connection/db.ts';
import { failWaiting } from '../store/claim/fail-waiting.ts';
import { findUnserved, type UnservedJob, type UnservedScope } from '../store/workers/unserved.ts';
import type { Waker } from '../store/connection/wake.ts';
import { ALL_SHARDS, type ShardOrder } from './shard-order.ts';

const BATCH = 500;
/** A job fails this part of its time later at most. */
const ACCURACY = 0.05;

export interface UnservedOptions {
  db: Db;
  waker: Waker;
  pollMs: number;
  unservedAfterMs: number;
  log: Log;
  shardOrder?: ShardOrder;
  /** The pause before its first tick. */
  firstMs?: number;
  /** Which jobs get log lines (`core/views/job-log.ts`). */
  logJobs?: string | undefined;
}

/**
 * Fails jobs enqueued with `POST /api/jobs/enqueue`, which promises an end, when no worker has
 * their definition. Jobs of `/v1` wait instead, since their worker may only be late.
 */
export function unserved(options: UnservedOptions): Service {
  const { db, waker, pollMs, unservedAfterMs, log } = options;
  const shardOrder = options.shardOrder ?? ALL_SHARDS;
  const jobLog = new JobLog(log, options.logJobs);
  // A worker that is late in a deploy gets the whole time.
  const scope = { afterMs: unservedAfterMs, tenant: null, unpublishedAtOnce: false };
  const intervalMs = Math.max(pollMs, unservedAfterMs * ACCURACY);
  return new ShardPollers({
    name: 'unserved',
    log,
    shards: db.shards,
    firstMs: options.firstMs,
    tick: async (shard) => {
      const fail = async () => await failUnserved({ db, waker, jobLog }, shard, scope);
      return (await shardOrder.take(shard, fail))?.more ? 0 : intervalMs;
    },
  });
}

/** Fails a batch of them in one shard. */
export async function failUnserved(
  { db, waker, jobLog }: { db: Db; waker: Waker; jobLog: JobLog },
  shard: number,
  scope: UnservedScope,
): Promise<{ failed: number; more: boolean }> {
  const found = await findUnserved(db, shard, scope, BATCH);
  const { ids, levels } = await failWaiting(db, shard, found.map(failureFor));
  waker.wake(levels);
  for (const job of found.filter(({ id }) => ids.includes(id))) {
    const facts = { ...job, jobId: job.id, definition: job.key };
    jobLog.failure(facts, 'job.failed', { code: 'NO_HANDLER', next: 'failed' });
  }
  return { failed: ids.length, more: found.length === BATCH && ids.length > 0 };
}

function failureFor({ id, claim, expiresAt, key, version }: UnservedJob) {
  const error = failureOf('NO_HANDLER', `no worker that lives has ${key}, version ${version}`);
  return { id, claim, was: 'queued', expiresAt, error } as const;
}
