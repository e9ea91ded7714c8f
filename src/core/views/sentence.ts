import type { JobView } from '../job/job.ts';
import { duration } from '../values/duration.ts';

/** The state of a job as one sentence. */
export function sentence(job: JobView, now: Date): string {
  const attempt = `attempt ${job.attempts} of ${job.maxAttempts}`;
  switch (job.status) {
    case 'created':
      return 'held until it is released';
    case 'scheduled':
      return `scheduled to run ${until(job.runAt, now)}`;
    case 'queued':
      return `queued for ${since(job.queuedAt ?? job.createdAt, now)}, ${waitsFor(job)}`;
    case 'running':
      return `running ${attempt} for ${since(job.startedAt, now)}${progress(job)}`;
    case 'retrying':
      return `retrying ${until(job.runAt, now)}: ${attempt} failed${reason(job)}`;
    case 'cancelling':
      return `cancelling ${attempt}, asked to stop ${since(job.cancelRequestedAt, now)} ago`;
    case 'succeeded':
      return `succeeded on ${attempt}${took(job)}`;
    case 'failed':
      return job.attempts === 0
        ? `failed before it ran${reason(job)}`
        : `failed on ${attempt}${reason(job)}`;
    case 'cancelled':
      return job.startedAt === null ? 'cancelled before it ran' : `cancelled on ${attempt}`;
  }
}

/** A pause comes first: while it lasts, a worker would not help. */
function waitsFor({ warnings }: JobView): string {
  const codes = warnings.map(({ code }) => code);
  if (codes.includes('PAUSED')) return 'paused';
  return codes.includes('UNHANDLED') ? 'and no worker has its definition' : 'waiting for a worker';
}

function reason({ error }: JobView): string {
  return error === null ? '' : `: ${error.code} ${error.message}`;
}

function progress({ progress: at }: JobView): string {
  if (at === null) return '';
  const share = at.fraction === null ? '' : `, ${Math.floor(at.fraction * 100)} %`;
  return at.message === null ? share : `${share}, ${at.message}`;
}

function took({ startedAt, finishedAt }: JobView): string {
  if (startedAt === null || finishedAt === null) return '';
  return ` in ${duration(Date.parse(finishedAt) - Date.parse(startedAt))}`;
}

function since(time: string | null, now: Date): string {
  return duration(time === null ? 0 : now.getTime() - Date.parse(time));
}

function until(time: string | null, now: Date): string {
  const leftMs = time === null ? 0 : Date.parse(time) - now.getTime();
  return leftMs <= 0 ? 'now' : `in ${duration(leftMs)}`;
}
