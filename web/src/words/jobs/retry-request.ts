import { hiddenIn } from './hidden.ts';
import { readJson } from './schema-form.ts';

export const RETRY_MODES = {
  now: 'Now, going on where it stopped',
  reset: 'Now, from the start: attempts, steps and checkpoint begin anew',
  later: 'Later, after its backoff',
} as const;

export type RetryMode = keyof typeof RETRY_MODES;

/** What `POST /v1/jobs/{jobId}/retry` is sent; without params they stay as they were. */
export interface RetryRequest {
  mode: RetryMode;
  params?: unknown;
}

export function readRetry(
  mode: RetryMode,
  text: string,
  shown: string,
): RetryRequest | { wrong: string } {
  if (text === shown) return { mode };
  const read = readJson(text);
  if ('wrong' in read) return { wrong: `The params are no JSON (${read.wrong}).` };
  const hidden = hiddenIn(read.value);
  return hidden === null ? { mode, params: read.value } : { wrong: hidden };
}
