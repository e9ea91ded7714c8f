import { ProblemError } from './errors.ts';
import { messagesOf } from './messages.ts';
import { OUTAGE_MAX_MS, pause, pauseMs } from './retry.ts';
import type { Transport } from './transport.ts';

const EVENT_STREAM = 'text/event-stream';

/**
 * Follows a job live. When the connection breaks, or closes because of a deploy, it is opened
 * again after the last received entry, so no entry is missed or repeated. Only the server's `end`
 * ends it.
 */
export async function* follow<Entry>(
  transport: Transport,
  path: string,
  query: URLSearchParams,
  startId: string | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<Entry, void, undefined> {
  let lastId = startId;
  let failures = 0;
  let awaySinceMs: number | null = null;
  for (;;) {
    const headers = { accept: EVENT_STREAM, ...(lastId && { 'last-event-id': lastId }) };
    const opened = await transport.open({ path, query, headers, signal });
    let delayMs: number | null;
    if ('error' in opened) {
      awaySinceMs ??= performance.now();
      const tooLong = performance.now() - awaySinceMs > OUTAGE_MAX_MS;
      delayMs = pauseMs(failures + 1, opened.retryAfterMs);
      if (!opened.passing || tooLong || delayMs === null) throw opened.error;
    } else {
      awaySinceMs = null;
      // All entries were read before, and the job has ended.
      if (opened.value.status === 204) return;
      for await (const { id, event, data } of messagesOf(bodyOf(opened.value), signal)) {
        failures = 0;
        if (event === 'end') return;
        lastId = id ?? lastId;
        yield JSON.parse(data) as Entry;
      }
      delayMs = pauseMs(failures + 1, null) ?? 0;
    }
    failures += 1;
    await pause(delayMs, signal);
  }
}

function bodyOf({ status, headers, body }: Response): ReadableStream<Uint8Array> {
  if (body !== null && headers.get('content-type')?.startsWith(EVENT_STREAM)) return body;
  throw new ProblemError(
    status,
    'UNEXPECTED_ANSWER',
    `the server answered ${status} with something that is no stream: is it a Longshore server?`,
  );
}
