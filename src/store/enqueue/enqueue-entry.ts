import type { JobState } from '../../core/job/job.ts';
import type { NewJob } from '../../core/job/new-job.ts';
import { canonicalSha } from './held-keys.ts';
import type { Queue } from './queues.ts';
import type { UniqueKey } from './unique-jobs.ts';

/** A new job, and where it goes. */
export interface Entry {
  job: NewJob;
  queue: Queue;
  /** The worker instance in this process that has a free slot for it, if one has (`hand-over`). */
  handedTo?: string | null;
  /** The schedule that made it, and for which of its slots. */
  schedule?: { id: string; slotAt: Date } | null;
  /** Where its idempotency key is kept, if not where the job is. */
  keyShard?: number;
  /** Its params as they are to be stored, if that is not what they are. */
  sealedParams?: string;
}

export interface EnqueuedJob {
  jobId: string;
  status: JobState;
  /** False when an earlier request with the same key had made it. */
  created: boolean;
  /** It was made earlier and is now as this request wants it. */
  replaced?: true;
}

export function storedParams({ job, sealedParams }: Entry): string {
  return sealedParams ?? job.paramsJson;
}

export function keyShardOf({ keyShard, queue }: Entry): number {
  return keyShard ?? queue.shard;
}

/** An entry as `store/enqueue/enqueue.ts` hands it to the database; `n` is its place in the caller's list. */
export type EntryRow = ReturnType<typeof toRow>;

export function toRow(entry: Entry, n: number) {
  const { job, queue, handedTo, schedule } = entry;
  const keyed = job.idempotencyKey !== null;
  const tenantWide = job.idempotencyScope === 'tenant';
  const scope = `idempotency\n${job.tenant}${tenantWide ? '' : `\n${job.definitionKey}`}`;
  const unique = uniqueKeyOf(job);
  return {
    n,
    id: job.id,
    queue: queue.queue,
    params: storedParams(entry),
    tags: job.tags && job.tags.length > 0 ? job.tags : null,
    policy: unique
      ? { ...job.policy, unique: { key: unique.key, while: unique.while } }
      : job.policy,
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
    handed_to: handedTo ?? null,
    schedule_id: schedule?.id ?? null,
    scheduled_for: schedule?.slotAt ?? null,
    expires_at: job.expiresAt,
    fails_unhandled: job.policy?.failsUnhandled ?? null,
    concurrency_key: job.concurrencyKey,
    traceparent: job.traceparent,
  };
}

/** A name that the caller gave and one made from params can never be the same. */
function uniqueKeyOf({ tenant, definitionKey, paramsJson, unique }: NewJob): UniqueKey | null {
  if (!unique) return null;
  const scope = `unique\n${tenant}\n${definitionKey}`;
  const params_sha = canonicalSha(paramsJson);
  const key = unique.key === null ? `params:${params_sha}` : `key:${unique.key}`;
  return { ...unique, scope, key, params_sha };
}
