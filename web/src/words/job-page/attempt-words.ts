import type { JobError } from '../../../../src/core/job/job.ts';
import type { AttemptView } from '../../../../src/core/views/history.ts';

/**
 * What each attempt says about its error beside the code, so that a message is shown once: the
 * message, or where it is. Null for an attempt without an error.
 */
export function attemptErrors(
  attempts: readonly Pick<AttemptView, 'number' | 'error'>[],
  shown: JobError | null,
): (string | null)[] {
  return attempts.map(({ error }, index) => {
    if (error === null) return null;
    if (isSame(error, shown)) return '(the error above)';
    const first = attempts.findIndex((one) => isSame(error, one.error));
    return first < index ? `(as attempt ${attempts[first]?.number})` : error.message;
  });
}

function isSame(error: JobError, other: JobError | null): boolean {
  return other !== null && error.code === other.code && error.message === other.message;
}

/** How the process ended, if that says more than the outcome. */
export function processWords({
  exitCode,
  signal,
}: Pick<AttemptView, 'exitCode' | 'signal'>): string | null {
  return signal ?? (exitCode === null || exitCode === 0 ? null : `exit code ${exitCode}`);
}

/** A cancelled job gets an abort signal first, and is killed only if it goes on. */
export function killedWords({
  outcome,
  signal,
}: Pick<AttemptView, 'outcome' | 'signal'>): string | null {
  if (outcome !== 'cancelled' || signal !== 'SIGKILL') return null;
  return 'Cancelled: it ignored its abort signal and was killed (SIGKILL)';
}
