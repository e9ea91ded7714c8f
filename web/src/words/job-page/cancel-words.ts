import type { JobView } from '../../../../src/core/job/job.ts';

/** What a cancellation does to a job. */
export function cancelWords({ status }: Pick<JobView, 'status'>, isInline: boolean): string {
  if (status !== 'running') return 'The job will not run.';
  return isInline
    ? 'The job is asked to stop. It runs in the worker’s process and cannot be killed if it ignores that.'
    : 'The job is asked to stop; its process is killed if it does not.';
}
