import type { FailureCode } from '../../core/failure/failure.ts';
import { isFailureCode } from '../../core/failure/failure.ts';
import type { JobView } from '../../core/job/job.ts';
import type { Explanation } from '../../core/views/why-not-running.ts';

/** What usually helps, by the code of the error. */
const HELP: Record<FailureCode, string> = {
  RATE_LIMITED:
    'The remote server limits requests: retry later, or give the definition a rateLimit.',
  UPSTREAM_5XX: 'The remote server failed: check it, then retry.',
  TIMEOUT: 'Find out in the log what took so long; or raise timeoutSeconds of the definition.',
  STALLED: 'Find out in the log where it stopped; a long step has to report progress.',
  NETWORK_ERROR: 'Check that the worker reaches the remote server, then retry.',
  HANDLER_ERROR: 'Fix the cause in the code or in its environment, deploy, then retry.',
  CRASHED: 'Read the end of the log: the process ended by itself or was killed.',
  OUT_OF_MEMORY: 'Raise memoryMb of the definition, or process less at a time.',
  LEASE_EXPIRED: 'Its worker died or lost the database: see list_workers, then retry.',
  PAYLOAD_INVALID:
    'Compare the params with the schema (list_definitions); retry with other params.',
  PARAMS_UPGRADE_FAILED: 'Fix the upgrade function that its message names, deploy, then retry.',
  PAYLOAD_TOO_LARGE: 'Store the data elsewhere and pass a reference in the params.',
  AUTHENTICATION_FAILED: 'Check the credentials of the job, then retry.',
  NOT_FOUND: 'Check the address or id in the params; retry with other params if it is wrong.',
  NO_HANDLER: 'Start a worker that has the definition, then retry.',
  NON_RETRYABLE: 'The job refused to be retried: read the message before you retry it.',
  EXPIRED: 'It was queued for too long: check the backlog, and enqueue it again if still needed.',
  RESULT_INVALID: 'The code has to return JSON: fix it, then retry.',
  LARGE_VALUE_LOST: 'An operator has to restore the storage of large values, then retry.',
  RESULT_TOO_LARGE: 'The code has to return less: store the data elsewhere, then retry.',
  SIGNAL_TIMEOUT: 'The signal did not come in time: enqueue the job again, or retry with reset.',
  PARENT_FAILED:
    'Retry the parent that its message names; this job then waits for it again by itself.',
  CHILDREN_FAILED:
    'Retry the children that did not succeed, then this job: it waits for them again.',
  BATCH_FAILED:
    'Retry the jobs of the batch that did not succeed: it then waits for them again by itself.',
  CANNOT_DECRYPT: 'Give the workers the encryption key, then retry.',
  INTERRUPTED: 'Deploys interrupted it too often: retry, or raise maxInterruptions.',
};

const WAIT = 'Nothing to do: wait.';
const LOOK = 'See with job_log what it did last; cancel it if it hangs.';

/** What a person or an agent can do about a job; null when there is nothing to do. */
export function nextStep(job: JobView, why: Explanation | null): string | null {
  switch (job.status) {
    case 'created':
      return 'It is held: release it when it shall run.';
    case 'failed':
      return helpFor(job.error?.code ?? 'HANDLER_ERROR');
    case 'cancelled':
      return 'It was cancelled on request; a retry runs it again.';
    case 'succeeded':
      return null;
    case 'running':
      return why?.tone === 'bad' ? `${LOOK} ${why.todo ?? ''}`.trim() : WAIT;
    case 'scheduled':
    case 'queued':
    case 'retrying':
    case 'suspended':
    case 'cancelling':
      return why?.todo ?? WAIT;
  }
}

export function helpFor(code: string): string {
  return isFailureCode(code) ? HELP[code] : HELP.HANDLER_ERROR;
}
