import type { Publication } from '../brokers/publisher.ts';
import type { Publishers } from '../brokers/publishers.ts';
import type { Clock } from '../runtime/clock.ts';
import { SEND_TIMEOUT_MS, type Sent } from './send.ts';

/** What a confirmation of the broker counts as, beside the answers of HTTP. */
const CONFIRMED = 202;

/** One message and its result, like `send`. It throws only when the caller aborts. */
export async function publish(
  broker: string,
  message: Publication,
  { publishers, clock }: { publishers: Publishers; clock: Clock },
  signal: AbortSignal,
): Promise<Sent> {
  const at = clock.now().toISOString();
  const startMs = clock.monotonicMs();
  const result = (status: number | null, error: string | null, cause?: unknown): Sent => {
    const durationMs = Math.round(clock.monotonicMs() - startMs);
    const send = { at, durationMs, status, error, responseBody: null, responseTruncated: false };
    return { send, retryAfter: null, cause };
  };
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(SEND_TIMEOUT_MS)]);
    await Promise.race([publishers.publish(broker, message), ended(limit)]);
    return result(CONFIRMED, null);
  } catch (error) {
    signal.throwIfAborted();
    return result(null, describeError(error), error);
  }
}

async function ended(signal: AbortSignal): Promise<never> {
  return await new Promise((_, reject) => {
    const end = () => reject(signal.reason as Error);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}

/** Without the message, which may contain the address of the broker. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return 'not published';
  const code = 'code' in error ? String(error.code) : error.name;
  return `not published (${code})`;
}
