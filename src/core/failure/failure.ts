import type { JobError } from '../job/job.ts';

/**
 * The codes a job can fail with, and whether trying again can help. A definition may replace the
 * default by its own list (`retryOn`). `docs/errors.md` is held to this table by a test.
 */
export const FAILURE_CODES = {
  RATE_LIMITED: { retryable: true, meaning: 'The other side answered 429.' },
  UPSTREAM_5XX: { retryable: true, meaning: 'The other side answered with a server error.' },
  TIMEOUT: { retryable: true, meaning: 'It took longer than it may.' },
  NETWORK_ERROR: { retryable: true, meaning: 'A connection could not be made, or broke.' },
  HANDLER_ERROR: { retryable: true, meaning: 'The code of the job threw.' },
  CRASHED: { retryable: true, meaning: 'The process of the job ended without an outcome.' },
  OUT_OF_MEMORY: { retryable: true, meaning: 'The process of the job needed too much memory.' },
  LEASE_EXPIRED: { retryable: true, meaning: 'The worker was gone for longer than its lease.' },
  PAYLOAD_INVALID: { retryable: false, meaning: 'The params do not fit the definition.' },
  PAYLOAD_TOO_LARGE: { retryable: false, meaning: 'The params are larger than they may be.' },
  AUTHENTICATION_FAILED: { retryable: false, meaning: 'The other side answered 401 or 403.' },
  NOT_FOUND: { retryable: false, meaning: 'The other side answered 404 or 410.' },
  NO_HANDLER: { retryable: false, meaning: 'No worker has this definition.' },
  NON_RETRYABLE: { retryable: false, meaning: 'The code of the job said so, or a 4xx did.' },
  EXPIRED: { retryable: false, meaning: 'It was not started before its expiry.' },
  RESULT_INVALID: { retryable: false, meaning: 'What the job returned is not JSON.' },
  RESULT_TOO_LARGE: { retryable: false, meaning: 'What the job returned is too large to keep.' },
  CANNOT_DECRYPT: { retryable: false, meaning: 'The key that it was encrypted with is missing.' },
  INTERRUPTED: { retryable: false, meaning: 'It was interrupted more often than it may be.' },
} as const satisfies Record<string, { retryable: boolean; meaning: string }>;

export type FailureCode = keyof typeof FAILURE_CODES;

/** What a code of a job's own is counted as, so that how many there are does not depend on jobs. */
export const OTHER_CODE = 'other';

export function isFailureCode(code: string): code is FailureCode {
  return Object.hasOwn(FAILURE_CODES, code);
}

/** A code that is not ours came from the job itself, like a plain throw, and is treated like one. */
export function isRetryable(code: string, retryOn: readonly string[] | null): boolean {
  if (retryOn) return retryOn.includes(code);
  return isFailureCode(code) ? FAILURE_CODES[code].retryable : true;
}

export function failureOf(code: FailureCode, message: string): JobError {
  return { code, message, stack: null, cause: null };
}
