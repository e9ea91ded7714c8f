import { PARENTS } from '../../core/dependency/dependency.ts';
import type { JobPolicy, JobState } from '../../core/job/job.ts';
import type { NewJob } from '../../core/job/new-job.ts';
import { canonicalSha } from './key-holders.ts';
import { storedKey } from '../../core/job/unique.ts';
import type { Queue } from './queues.ts';
import type { UniqueKey } from './unique-jobs.ts';

/** A new job and its queue. */
export interface Entry {
  job: NewJob;
  queue: Queue;
  /** The schedule that created it, and the slot. */
  schedule?: { id: string; slotAt: Date } | null;
  /** The shard of its idempotency key, if it is not that of the job. */
  keyShard?: number;
  /** The shard of its unique key, if it is not that of the job. */
  uniqueShard?: number;
  /** The encrypted params, if they are encrypted. */
  sealedParams?: string;
  /** Another job waits for its end. */
  watched?: true;
  /** What it waits for, if it is not `after` other jobs (`core/batch/batch.ts`). */
  waitsFor?: string;
}

export interface EnqueuedJob {
  jobId: string;
  status: JobState;
  /** False when an earlier request with the same key or request id created it. */
  created: boolean;
  /** It existed and was replaced by this request. */
  replaced?: true;
}

export function storedParams({ job, sealedParams }: Entry): string {
  return sealedParams ?? job.paramsJson;
}

export function keyShardOf({ keyShard, queue }: Entry): number {
  return keyShard ?? queue.shard;
}

/** An entry as JSON for `store/enqueue/enqueue.ts`; `n` is its index in the caller's list. */
export type EntryRow = ReturnType<typeof toRow>;

export function toRow(entry: Entry, n: number) {
  const { job, queue, schedule } = entry;
  const keyed = job.idempotencyKey !== null;
  const tenantWide = job.idempotencyScope === 'tenant';
  const scope = `idempotency\n${job.tenant}${tenantWide ? '' : `\n${job.definitionKey}`}`;
  const unique = uniqueKeyOf(entry);
  return {
    n,
    id: job.id,
    queue: queue.queue,
    params: storedParams(entry),
    tags: job.tags && job.tags.length > 0 ? job.tags : null,
    policy: storedPolicy(job, unique),
    unique,
    scope: keyed ? scope : null,
    idempotency_key: job.idempotencyKey,
    params_sha: keyed ? canonicalSha(job.paramsJson) : null,
    key_shard: keyShardOf(entry),
    any_params: tenantWide,
    rank: -job.priority,
    max_attempts: job.maxAttempts,
    hold: job.hold,
    run_at: job.runAt,
    delay_ms: job.delayMs ?? 0,
    schedule_id: schedule?.id ?? null,
    scheduled_for: schedule?.slotAt ?? null,
    expires_at: job.expiresAt,
    fails_unserved: job.policy?.failsUnserved ?? null,
    concurrency_key: job.concurrencyKey,
    traceparent: job.traceparent,
    waits_for: job.after === null ? (entry.waitsFor ?? null) : PARENTS,
    ...(entry.watched && { watched: true }),
  };
}

function storedPolicy({ policy, after }: NewJob, unique: UniqueKey | null): JobPolicy | null {
  if (!unique && !after) return policy;
  return {
    ...policy,
    ...(unique && { unique: { key: unique.key, while: unique.while } }),
    ...(after && { hasParents: true }),
  };
}

function uniqueKeyOf({ job, queue, uniqueShard }: Entry): UniqueKey | null {
  const { tenant, definitionKey, paramsJson, unique } = job;
  if (!unique) return null;
  const scope = `unique\n${tenant}\n${definitionKey}`;
  const params_sha = canonicalSha(paramsJson);
  const key = storedKey(unique.key, params_sha);
  const shard = uniqueShard ?? queue.shard;
  return { ...unique, scope, key, params_sha, shard, queue };
}
