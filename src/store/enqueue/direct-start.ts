import type { ClaimedJob } from '../claim/claim.ts';
import type { Queue } from './queues.ts';
import { isSubscribed } from '../claim/subscribed-queues.ts';

/**
 * A worker in the same process that may take a new job straight away, without the job ever waiting in
 * its level. That is only fair while nothing better waits: the worker grants a slot only if it has
 * seen the job's level and all better ones empty, and heard of no new work since.
 */
export interface DirectStart {
  /** Reserves a slot; answers with the worker instance, or null when the job should wait in level. */
  reserve(queue: Queue, rank: number): string | null;
  /**
   * The job was stored as running by the worker instance that `reserve` named: start it, unless the
   * worker has lost that lease meanwhile. Uses the reservation up.
   */
  begin(queue: Queue, job: ClaimedJob, instance: string): void;
  /** The job was not stored that way: the slot is free again. */
  release(): void;
}

/**
 * The part of a statement that stores a job already running: its queue has no limiter and is not paused,
 * no webhook subscribes to its start, and the worker is alive and not draining. The worker has checked
 * that too, but earlier.
 */
export function mayRunAtOnce(queue: string, worker: string): string {
  return `exists (
        select 1 from longshore.worker w where w.shard = $1 and w.instance = ${worker}
          and w.dead_at is null and w.draining_at is null)
      and exists (
        select 1 from longshore.queue k where k.shard = $1 and k.queue = ${queue}
          and k.paused_at is null and num_nonnulls(k.definition_limiter, k.tenant_limiter) = 0
          and not ${isSubscribed('k.told', 'running')})`;
}
