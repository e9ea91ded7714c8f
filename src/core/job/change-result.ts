import type { JobState } from './job.ts';

export type JobChange = 'cancel' | 'release' | 'retry' | 'delete' | 'signal';

/** The answer to the change of one job. */
export type ChangeResult =
  | { kind: 'changed'; status: JobState }
  /** A state in which the job cannot be changed so. */
  | { kind: 'refused'; status: JobState }
  /** Another active job has the same unique key. */
  | { kind: 'taken'; by: string }
  /** A parent of the job did not succeed, so the job cannot run. */
  | { kind: 'parent'; id: string }
  /** It is a job of the system; `why` says what to do instead. */
  | { kind: 'forbidden'; why: string }
  | { kind: 'missing' };

const RULES: Record<JobChange, string> = {
  cancel: 'it can no longer be cancelled',
  release: 'only a created job can be released',
  retry: 'only a failed or cancelled job can be retried',
  delete: 'only a finished job can be deleted; cancel it first',
  signal: 'a finished job takes no signals',
};

/** The message of a conflict, the same over HTTP and in process. */
export function conflictOf(
  change: JobChange,
  result: Extract<ChangeResult, { kind: 'refused' | 'taken' | 'parent' }>,
): string {
  switch (result.kind) {
    case 'taken':
      return `the active job ${result.by} has the same unique key`;
    case 'parent':
      return `its parent ${result.id} did not succeed: retry that job, and this one waits for it again`;
    case 'refused':
      return `the job is ${result.status}: ${RULES[change]}`;
  }
}
