import type { JobState } from '../job/job.ts';

/**
 * A retry by hand. `now` and `later` go on where the job stopped: its attempts, steps and checkpoint
 * stay, and if no attempt is left it gets one more. `reset` starts over: no attempts are counted, and
 * nothing that the job has saved is kept. In every mode past interruptions are forgiven.
 */
export const RETRY_MODES = ['now', 'later', 'reset'] as const;
export type RetryMode = (typeof RETRY_MODES)[number];

/** Where a job may come back from. A success is no mistake that could be mended. */
export const RETRYABLE_STATES = ['failed', 'cancelled'] as const;
export type RetryableState = (typeof RETRYABLE_STATES)[number];

export function mayBeRetried(state: JobState): state is RetryableState {
  return (RETRYABLE_STATES as readonly JobState[]).includes(state);
}

/** How a job shall be retried. */
export interface RetryRequest {
  mode: RetryMode;
  /** With `later`: when. Null is the backoff that the job would have waited anyway. */
  runAt: Date | null;
  /** Other params than before; null keeps them. */
  paramsJson: string | null;
}
