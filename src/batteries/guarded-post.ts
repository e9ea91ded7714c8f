import { NonRetryable } from '../core/definition/define.ts';
import { isDelivered, type Send } from '../core/webhook/webhook.ts';
import { judgeUrl } from '../core/webhook/webhook-url.ts';
import { systemClock } from '../runtime/clock.ts';
import { guardedDialer } from '../webhooks/dialer.ts';
import { Networks } from '../webhooks/networks.ts';
import { send, type Sending, type Sent } from '../webhooks/send.ts';

/** POST requests that reach only public addresses and the given networks. */
export class GuardedPost {
  readonly #dialer;
  readonly #timeoutMs: number;

  constructor(allow: readonly string[] = [], timeoutMs = 15_000) {
    this.#dialer = guardedDialer(new Networks(allow));
    this.#timeoutMs = timeoutMs;
  }

  /** Resolves also without a 2xx: `failureOf` says what to throw. */
  async send(sending: Sending, signal: AbortSignal): Promise<Sent> {
    const verdict = judgeUrl(sending.url);
    if (!verdict.ok) throw new NonRetryable(`url: ${verdict.detail}`);
    const sender = { dialer: this.#dialer, clock: systemClock, timeoutMs: this.#timeoutMs };
    return await send(sending, sender, signal);
  }
}

/** Null for a 2xx. 429 and 5xx are retried, and Retry-After is respected; 4xx are not. */
export function failureOf({ send: { status, error }, retryAfter, cause }: Sent): Error | null {
  if (isDelivered({ status })) return null;
  if (status === null) {
    const isRefused =
      cause instanceof Error && 'code' in cause && cause.code === 'ADDRESS_NOT_ALLOWED';
    if (isRefused) return new NonRetryable(`url: ${cause.message}`);
    return new Error(error ?? 'no answer', { cause });
  }
  const followed = status >= 300 && status <= 399;
  const message = `the receiver answered ${status}${followed ? '; redirects are not followed' : ''}`;
  if (followed) return new NonRetryable(message);
  return Object.assign(new Error(message), { status, headers: { 'retry-after': retryAfter } });
}

/** What a receiver answered, in short. */
export function receiptOf({ at, durationMs, status, responseBody }: Send, responseMax = 1_000) {
  return { at, durationMs, status, response: responseBody?.slice(0, responseMax) ?? null };
}
