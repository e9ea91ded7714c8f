import type { JobState } from '../job/job.ts';

/**
 * A retry by hand. `now` and `later` continue where the job stopped: attempts, steps and checkpoint
 * stay, and if no attempt is left the job gets one more. `reset` starts over: attempts, steps and
 * checkpoint are cleared. Every mode clears the interruptions.
 */
export const RETRY_MODES = ['now', 'later', 'reset'] as const;
export type RetryMode = (typeof RETRY_MODES)[number];

/** The states that can be retried. */
export const RETRYABLE_STATES = ['failed', 'cancelled'] as const;
export type RetryableState = (typeof RETRYABLE_STATES)[number];

export function mayBeRetried(state: JobState): state is RetryableState {
  return (RETRYABLE_STATES as readonly JobState[]).includes(state);
}

/** A requested retry. */
export interface RetryRequest {
  mode: RetryMode;
  /** For `later`: the time. Null means the backoff of the job. */
  runAt: Date | null;
  /** New params; null keeps the old ones. */
  paramsJson: string | null;
  /** Which code of a deployed definition it runs; absent: `same`. */
  version?: RetryVersion;
}

/** `same`: the version it was queued with; `current`: the one that a new job gets. */
export const RETRY_VERSIONS = ['same', 'current'] as const;
export type RetryVersion = (typeof RETRY_VERSIONS)[number];
