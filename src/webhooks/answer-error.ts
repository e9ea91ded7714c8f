import type { Sent } from './send.ts';

/**
 * The error of a send that was not delivered. Any answer except 2xx is retried, because the receiver
 * may be fixed. The status is part of the error only where it carries a Retry-After
 * (`core/failure/classify.ts`), because other statuses would count as not retryable.
 */
export function answerError({ send: { status, error: why }, retryAfter, cause }: Sent): Error {
  if (status === null) return new Error(why ?? 'no answer', { cause });
  const followed = status >= 300 && status <= 399 ? '; redirects are not followed' : '';
  const error = new Error(`the receiver answered ${status}${followed}`);
  if (status !== 429 && status < 500) return error;
  return Object.assign(error, { status, headers: { 'retry-after': retryAfter } });
}
