import type { EnqueueOptions } from '../../client/index.ts';
import { MAX_ATTEMPTS_MAX, PRIORITY_MAX } from '../../core/definition/definition.ts';
import { YEAR_MS } from '../../core/values/duration.ts';
import type { WaitingJob } from '../source.ts';

/** What the import reads of a job of BullMQ. */
export interface BullJob {
  id: string;
  name: string;
  data: unknown;
  timestamp: number;
  priority: number;
  attemptsMade: number;
  opts: {
    attempts?: number | undefined;
    backoff?: number | BullBackoff | undefined;
    deduplication?: { id: string; ttl?: number | undefined } | undefined;
  };
}

interface BullBackoff {
  type: string;
  delay?: number | undefined;
  jitter?: number | undefined;
}

export interface BullFacts {
  queue: string;
  /** When a delayed job is due. */
  dueMs: number | null;
  /** Whether BullMQ refuses a second job with its deduplication id now. */
  holdsDeduplication: boolean;
}

export function mapJob(job: BullJob, { queue, dueMs, holdsDeduplication }: BullFacts): WaitingJob {
  const { opts, attemptsMade } = job;
  const options: EnqueueOptions = {
    maxAttempts: Math.min(MAX_ATTEMPTS_MAX, Math.max(1, (opts.attempts ?? 1) - attemptsMade)),
  };
  // The lowest number runs first there, and jobs without a number before all others.
  if (job.priority > 0) options.priority = -Math.min(job.priority, PRIORITY_MAX);
  if (dueMs !== null) options.runAt = new Date(dueMs);
  const retry = retryOf(opts.backoff, attemptsMade);
  if (retry) options.retry = retry;
  const { deduplication } = opts;
  if (deduplication && deduplication.ttl === undefined && holdsDeduplication) {
    options.unique = { key: deduplication.id, while: 'active' };
  }
  return {
    id: job.id,
    // An id of BullMQ can be used again after its job was removed, but not in the same millisecond.
    identity: `bullmq:${queue}:${job.id}:${job.timestamp}`,
    queue,
    name: job.name,
    kind: attemptsMade > 0 ? 'retrying' : dueMs === null ? 'waiting' : 'delayed',
    params: job.data ?? {},
    options,
  };
}

/** Undefined for a strategy that is code of the application: the definition decides then. */
function retryOf(backoff: BullJob['opts']['backoff'], made: number): EnqueueOptions['retry'] {
  if (backoff === undefined) return { delaysMs: [0], jitter: 0 };
  const {
    type,
    delay = 0,
    jitter = 0,
  } = typeof backoff === 'number' ? { type: 'fixed', delay: backoff } : backoff;
  const delayMs = Math.min(delay, YEAR_MS);
  if (type === 'fixed') return { delaysMs: [delayMs], jitter };
  if (type !== 'exponential') return undefined;
  // The attempts here begin at 1 again, so the first delay is the next one there.
  return { baseMs: Math.min(YEAR_MS, delayMs * 2 ** Math.min(40, made)), maxMs: YEAR_MS, jitter };
}
