import type { JobView } from '../job/job.ts';
import { deathWords, workerName, type WorkerView } from '../queue/worker.ts';
import { timeSince, wholeSeconds } from '../values/duration.ts';

const JUST_NOW_MS = 2_000;

/** Of a running job: that the process of its worker is known to have ended; else null. */
export function endedWorker(
  job: JobView,
  workers: readonly WorkerView[],
  now: Date,
): string | null {
  const worker = workerOf(job, workers);
  const death = worker ? deathWords(worker, timeSince(worker.heartbeatAt, now)) : null;
  return worker && death !== null ? `Not running: worker ${workerName(worker)} ${death}.` : null;
}

/** Who claimed it, and when that worker was last heard of. */
export function leaseFacts(job: JobView, workers: readonly WorkerView[], now: Date): string[] {
  const worker = workerOf(job, workers);
  const heartbeat = job.heartbeatAt ?? worker?.heartbeatAt ?? null;
  const name = worker ? workerName(worker) : (job.workerId ?? 'Its worker');
  if (heartbeat === null) return [];
  const agoMs = now.getTime() - Date.parse(heartbeat);
  const heard = agoMs < JUST_NOW_MS ? 'just now' : `${wholeSeconds(agoMs)} ago`;
  const state = worker?.status === 'draining' ? ' It is draining: it exits after this job.' : '';
  return [`Claimed by ${name}, last heartbeat ${heard}.${state}`];
}

function workerOf(job: JobView, workers: readonly WorkerView[]): WorkerView | undefined {
  return workers.find(({ workerId }) => workerId === job.workerId);
}
