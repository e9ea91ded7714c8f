import { errorWords, inStep } from '../failure/failure-words.ts';
import type { JobView } from '../job/job.ts';
import { duration, YEAR_MS } from '../values/duration.ts';

/** The state of a job as one sentence. */
export function sentence(job: JobView, now: Date): string {
  const attempt = `attempt ${job.attempts} of ${job.maxAttempts}`;
  switch (job.status) {
    case 'created':
      return 'held until it is released';
    case 'scheduled':
      return job.waitsFor?.sleep
        ? `sleeping, goes on ${until(job.runAt, now)}`
        : `scheduled to run ${until(job.runAt, now)}`;
    case 'queued':
      return `queued for ${since(job.queuedAt ?? job.createdAt, now)}, ${waitsFor(job)}`;
    case 'running':
      return `running ${attempt} for ${since(job.startedAt, now)}${progress(job)}`;
    case 'retrying':
      return `retrying ${until(job.runAt, now)}: ${attempt} failed${reason(job)}`;
    case 'suspended':
      if (job.waitsFor?.jobs === 'batch') return 'open: it accepts jobs until it is closed';
      return job.waitsFor?.jobs
        ? `waiting for its ${job.waitsFor.jobs}`
        : `waiting for the signal ${job.waitsFor?.signal ?? ''}${deadline(job.runAt, now)}`;
    case 'cancelling':
      return `cancelling ${attempt}, asked to stop ${since(job.cancelRequestedAt, now)} ago`;
    case 'succeeded':
      return `succeeded on ${attempt}${took(job)}`;
    case 'failed':
      if (job.attempts > 0) return `failed on ${attempt}${reason(job)}`;
      return `failed ${job.startedAt === null ? 'before it ran' : 'while it waited'}${reason(job)}`;
    case 'cancelled':
      if (job.startedAt === null) return 'cancelled before it ran';
      return job.attempts === 0 ? 'cancelled while it waited' : `cancelled on ${attempt}`;
  }
}

/** A pause comes first: while it lasts, a worker would not help. */
function waitsFor({ warnings }: JobView): string {
  const codes = warnings.map(({ code }) => code);
  if (codes.includes('PAUSED')) return 'paused';
  return codes.includes('UNSERVED') ? 'and no worker has its definition' : 'waiting for a worker';
}

/** A wait without a timeout lasts a year: its end says nothing. */
function deadline(runAt: string | null, now: Date): string {
  const leftMs = runAt === null ? 0 : Date.parse(runAt) - now.getTime();
  return leftMs > YEAR_MS / 2 ? '' : ` for at most ${duration(leftMs)}`;
}

function reason({ error }: JobView): string {
  return error === null ? '' : `${inStep(error)}: ${errorWords(error)}`;
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
