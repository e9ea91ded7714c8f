import type { JobError } from '../job/job.ts';

/**
 * The codes a job can fail with, and whether a retry can help. A definition may replace the default
 * with its own list (`retryOn`). A test checks `docs/errors.md` against this table.
 */
export const FAILURE_CODES = {
  RATE_LIMITED: { retryable: true, meaning: 'The remote server answered 429.' },
  UPSTREAM_5XX: { retryable: true, meaning: 'The remote server answered with a server error.' },
  TIMEOUT: { retryable: true, meaning: 'The job exceeded its time limit.' },
  STALLED: { retryable: true, meaning: 'The job gave no sign of life for too long.' },
  NETWORK_ERROR: { retryable: true, meaning: 'A connection failed or was lost.' },
  HANDLER_ERROR: { retryable: true, meaning: 'The code of the job threw.' },
  CRASHED: { retryable: true, meaning: 'The process of the job ended without an outcome.' },
  OUT_OF_MEMORY: { retryable: true, meaning: 'The process of the job exceeded its memory limit.' },
  LEASE_EXPIRED: { retryable: true, meaning: 'The lease of the worker expired.' },
  PAYLOAD_INVALID: {
    retryable: false,
    meaning: 'The params do not match the schema of the definition.',
  },
  PARAMS_UPGRADE_FAILED: {
    retryable: false,
    meaning: 'An upgrade function of the definition threw.',
  },
  PAYLOAD_TOO_LARGE: { retryable: false, meaning: 'The params exceed the size limit.' },
  AUTHENTICATION_FAILED: { retryable: false, meaning: 'The remote server answered 401 or 403.' },
  NOT_FOUND: { retryable: false, meaning: 'The remote server answered 404 or 410.' },
  NO_HANDLER: { retryable: false, meaning: 'No worker has this definition.' },
  NON_RETRYABLE: {
    retryable: false,
    meaning: 'The job threw NonRetryable, or a request got another 4xx.',
  },
  EXPIRED: { retryable: false, meaning: 'The job did not start before its expiry.' },
  RESULT_INVALID: { retryable: false, meaning: 'The return value of the job is not JSON.' },
  RESULT_TOO_LARGE: {
    retryable: false,
    meaning: 'The return value of the job exceeds the size limit.',
  },
  LARGE_VALUE_LOST: {
    retryable: false,
    meaning: 'The storage does not have a large value of the job, or it was changed.',
  },
  SIGNAL_TIMEOUT: { retryable: false, meaning: 'The signal did not arrive in time.' },
  PARENT_FAILED: {
    retryable: false,
    meaning: 'A job that it waited for failed or was cancelled.',
  },
  CHILDREN_FAILED: {
    retryable: false,
    meaning: 'A child that it waited for failed or was cancelled.',
  },
  BATCH_FAILED: {
    retryable: false,
    meaning: 'A job of the batch failed or was cancelled.',
  },
  CANNOT_DECRYPT: { retryable: false, meaning: 'The encryption key is missing.' },
  INTERRUPTED: { retryable: false, meaning: 'The job was interrupted too often.' },
} as const satisfies Record<string, { retryable: boolean; meaning: string }>;

export type FailureCode = keyof typeof FAILURE_CODES;

/** Metrics count custom codes as this, so that jobs cannot create labels. */
export const OTHER_CODE = 'other';

export function isFailureCode(code: string): code is FailureCode {
  return Object.hasOwn(FAILURE_CODES, code);
}

/** A custom code comes from the job itself and is treated like a plain throw. */
export function isRetryable(code: string, retryOn: readonly string[] | null): boolean {
  if (retryOn) return retryOn.includes(code);
  return isFailureCode(code) ? FAILURE_CODES[code].retryable : true;
}

/** The code of the job did not run, so the attempt does not count. */
export function neverRan(code: string): boolean {
  return ['PAYLOAD_INVALID', 'CANNOT_DECRYPT', 'LARGE_VALUE_LOST'].includes(code);
}

export function failureOf(code: FailureCode, message: string): JobError {
  return { code, message, stack: null, cause: null };
}
