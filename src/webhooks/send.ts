import type { Dispatcher } from 'undici';
import type { Send } from '../core/webhook/webhook.ts';
import type { Clock } from '../runtime/clock.ts';

export const SEND_TIMEOUT_MS = 15_000;
/** The most of a response that is read and kept. */
export const RESPONSE_MAX_BYTES = 8_192;

export interface Sending {
  url: string;
  /** Default POST. */
  method?: 'POST' | 'PURGE';
  headers: Record<string, string>;
  body: string;
}

export interface Sent {
  send: Send;
  /** The header as received. */
  retryAfter: string | null;
  /** The error when there was no response. */
  cause: unknown;
}

export interface SenderOptions {
  dialer: Dispatcher | (() => Promise<Dispatcher>);
  clock: Clock;
  timeoutMs?: number;
}

/** Begins a send now; call the returned function with its result. */
export function startSend(clock: Clock): (what: Partial<Send>) => Send {
  const [at, startMs] = [clock.now().toISOString(), clock.monotonicMs()];
  return (what) => ({
    at,
    durationMs: Math.round(clock.monotonicMs() - startMs),
    status: null,
    error: null,
    responseBody: null,
    responseTruncated: false,
    ...what,
  });
}

/**
 * One request and its result. It follows no redirect, decompresses nothing, and has one time limit for
 * everything. It throws only when the caller aborts.
 */
export async function send(
  { url, method = 'POST', headers, body }: Sending,
  { dialer, clock, timeoutMs = SEND_TIMEOUT_MS }: SenderOptions,
  signal: AbortSignal,
): Promise<Sent> {
  const limit = AbortSignal.timeout(timeoutMs);
  const done = startSend(clock);
  try {
    // Loaded with the first request: most processes send none.
    const { request } = await import('undici');
    const answer = await request(url, {
      method,
      headers: { 'content-type': 'application/cloudevents+json', ...headers },
      body,
      dispatcher: typeof dialer === 'function' ? await dialer() : dialer,
      signal: AbortSignal.any([signal, limit]),
    });
    const retryAfter = answer.headers['retry-after'];
    const read = await readSome(answer.body);
    return {
      send: done({ status: answer.statusCode, ...read }),
      retryAfter: typeof retryAfter === 'string' ? retryAfter : null,
      cause: undefined,
    };
  } catch (error) {
    signal.throwIfAborted();
    const cause = limit.aborted ? limit.reason : error;
    const message = limit.aborted
      ? `no answer within ${timeoutMs / 1_000} s`
      : describeError(error);
    return { send: done({ error: message }), retryAfter: null, cause };
  }
}

/** The status is known by then: a response that breaks off still counts. */
async function readSome(
  body: AsyncIterable<Uint8Array>,
): Promise<Pick<Send, 'responseBody' | 'responseTruncated'>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let whole = true;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.length;
      whole = bytes <= RESPONSE_MAX_BYTES;
      if (!whole) break;
    }
  } catch {
    whole = false;
  }
  const text = Buffer.concat(chunks).subarray(0, RESPONSE_MAX_BYTES).toString();
  return { responseBody: text.replaceAll('\u0000', '\uFFFD'), responseTruncated: !whole };
}

/** An error code is enough and contains no address. Our own refusals have messages. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return 'no answer';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return code === 'ADDRESS_NOT_ALLOWED' ? error.message : `no answer (${code})`;
}
