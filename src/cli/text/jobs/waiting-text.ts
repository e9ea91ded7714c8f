import type { Job } from '../../../client/index.ts';
import { duration } from '../../../core/values/duration.ts';
import { printable } from '../../../core/values/printable.ts';
import { sentence } from '../../../core/views/sentence.ts';
import { progressBar } from '../progress-line.ts';

/** The job in one line while it is awaited: state, progress, time. */
export function waitingText(job: Job, now: Date): string {
  const { fraction = null, message = null } = job.progress ?? {};
  if (job.status !== 'running' || fraction === null) return printable(sentence(job, now));
  const forMs = job.startedAt === null ? 0 : now.getTime() - Date.parse(job.startedAt);
  const attempt = job.attempts > 1 ? ` attempt ${job.attempts} of ${job.maxAttempts}` : '';
  const share = `${String(Math.floor(fraction * 100)).padStart(3)} %`;
  const parts = [`running${attempt}`, `${progressBar(fraction, 1)} ${share}`, duration(forMs)];
  return printable([...parts, ...(message === null ? [] : [message])].join('  '));
}

/** Changes when a line is worth printing where no line can replace another: state, tenths, try. */
export function waitingStep(job: Job): string {
  const { fraction = null } = job.progress ?? {};
  const tenths = fraction === null ? '' : Math.floor(fraction * 10);
  return [job.status, job.attempts, tenths].join(' ');
}
