import { rootCause } from '../../../../src/core/failure/dead-letter.ts';
import { failureWords } from '../../../../src/core/failure/failure-words.ts';
import { duration } from '../../../../src/core/values/duration.ts';
import type { JobView } from '../../../../src/core/job/job.ts';
import { bytes, distance, timeSince } from '../moment.ts';

/** The duration that matters in the job's state. */
export function timing(job: JobView, now: Date): string {
  const { status, runAt, startedAt, finishedAt, queuedAt, createdAt } = job;
  switch (status) {
    case 'created':
      return 'held';
    case 'scheduled':
    case 'retrying':
      return runAt === null ? '' : distance(runAt, now);
    case 'suspended':
      if (job.waitsFor?.jobs === 'batch') return 'until it is closed';
      return job.waitsFor?.jobs
        ? `until its ${job.waitsFor.jobs} have ended`
        : `until the signal ${job.waitsFor?.signal ?? ''}`;
    case 'queued':
      return `waiting ${timeSince(queuedAt ?? createdAt, now)}`;
    case 'running':
    case 'cancelling':
      return `for ${timeSince(startedAt ?? createdAt, now)}`;
    case 'succeeded':
    case 'failed':
    case 'cancelled':
      if (startedAt === null || finishedAt === null) return 'never ran';
      return `took ${duration(Date.parse(finishedAt) - Date.parse(startedAt))}`;
  }
}

/** Remark in a list: the error, the progress or a warning. */
export function remark({ error, status, progress, warnings }: JobView): string {
  if (warnings.some(({ code }) => code === 'PAUSED')) return 'Paused.';
  if (warnings.some(({ code }) => code === 'UNLOADABLE')) return 'Its code cannot be loaded.';
  if (warnings.some(({ code }) => code === 'UNSERVED')) return 'No worker has this definition.';
  if (error !== null && (status === 'failed' || status === 'retrying')) {
    return `${error.code} ${failureWords({ ...error, cause: rootCause(error) })}`;
  }
  if (progress === null || status !== 'running') return '';
  const share = progress.fraction === null ? [] : [`${Math.floor(progress.fraction * 100)} %`];
  return [...share, ...(progress.message === null ? [] : [progress.message])].join(' · ');
}

const SUMMARY_LENGTH = 120;

/** Shortened params, to tell jobs apart. Of large ones only the size is known here. */
export function summary({ params, largeParams }: Pick<JobView, 'params' | 'largeParams'>): string {
  if (largeParams) return `${bytes(largeParams.bytes)} of JSON`;
  const text = JSON.stringify(params) ?? '';
  if (text === '{}' || text === 'null') return '';
  return text.length > SUMMARY_LENGTH ? `${text.slice(0, SUMMARY_LENGTH)}…` : text;
}

export function sentenceCase(text: string): string {
  return `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`;
}
