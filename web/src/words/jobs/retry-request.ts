export const RETRY_MODES = {
  now: 'Resume now',
  reset: 'Restart from scratch: reset attempts, steps and checkpoint',
  later: 'Resume after its backoff',
} as const;

export type RetryMode = keyof typeof RETRY_MODES;

/** Body of `POST /v1/jobs/{jobId}/retry`; without params they stay unchanged. */
export interface RetryRequest {
  mode: RetryMode;
  params?: unknown;
  /** Absent: the version it was queued with. */
  version?: 'current';
}
