import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/**
 * One response of type text/event-stream.
 *
 * Readers can be slow or disconnect at any time. So `write` waits until there is room, and stops
 * waiting when the reader is gone. (@fastify/sse waits for `drain` or an error, which a slow reader
 * that disconnects never causes, and writes heartbeats into a full buffer.) The connection timeout
 * of the server disconnects a reader that reads nothing for a minute. The heartbeat keeps idle
 * streams open, here and in proxies.
 */
export class EventStream {
  readonly #raw: ServerResponse;
  readonly #over = new AbortController();
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(raw: ServerResponse) {
    this.#raw = raw;
    for (const event of ['finish', 'close', 'error']) raw.on(event, () => this.#leave());
  }

  /** Aborts when the reader disconnects or the server stops. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Starts the stream; before it any other response is possible. */
  begin(headers: Headers, heartbeatMs: number): void {
    const own = { 'content-type': EVENT_STREAM, connection: 'close', 'x-accel-buffering': 'no' };
    this.#raw.writeHead(200, { ...headers, ...own });
    this.#raw.write(`retry: ${RECONNECT_MS}\n\n`);
    this.#heartbeat = setInterval(() => {
      if (!this.#raw.writableNeedDrain) this.#raw.write(': still here\n\n');
    }, heartbeatMs);
  }

  /** Resolves when there is room for more, or the reader is gone. */
  async write(text: string): Promise<void> {
    if (this.signal.aborted || text === '' || this.#raw.write(text)) return;
    await once(this.#raw, 'drain', { signal: this.signal }).catch(() => undefined);
  }

  /** Sends the final `end` event. */
  finish(data: Record<string, unknown> = {}): void {
    clearInterval(this.#heartbeat);
    this.#raw.end(`event: end\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** Closes without `end`, so that the reader reconnects elsewhere. */
  stop(): void {
    this.#leave();
    if (this.#heartbeat === undefined) return;
    // A slow reader would keep the connection open until it has read the buffer.
    if (this.#raw.writableLength > 0) this.#raw.destroy();
    else this.#raw.end();
  }

  #leave(): void {
    clearInterval(this.#heartbeat);
    this.#over.abort();
  }
}

type Headers = Record<string, string | number | string[] | undefined>;

export const EVENT_STREAM = 'text/event-stream';

/** Reconnect delay of an EventSource, sent at the start of each stream. */
const RECONNECT_MS = 1_000;

/** One message. JSON has no line breaks, so the data is one line. */
export function message(id: string, event: string, data: unknown): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Streams only if the type is named explicitly: a wildcard gets a page. */
export function wantsStream(accept = ''): boolean {
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === EVENT_STREAM && !parameters.some((one) => /^q=0(\.0*)?$/.test(one));
  });
}
