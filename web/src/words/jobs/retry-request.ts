import { hiddenIn } from './hidden.ts';
import { readJson } from '../../../../src/core/form/schema-form.ts';

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

export function readRetry(
  mode: RetryMode,
  text: string,
  shown: string,
): RetryRequest | { wrong: string } {
  if (text === shown) return { mode };
  const read = readJson(text);
  if ('wrong' in read) return read;
  const hidden = hiddenIn(read.value);
  return hidden === null ? { mode, params: read.value } : { wrong: hidden };
}
