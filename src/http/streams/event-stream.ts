import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/**
 * One answer of the type text/event-stream: what a browser's EventSource, or the SDK, reads message
 * by message as long as it lasts.
 *
 * Readers can be slow, or vanish at any moment, and both must cost the server nothing. So `write`
 * waits until there is room, and the waiting ends when the reader is gone. (That is why this is not
 * @fastify/sse: it waits for `drain` or an error, and a slow reader that hangs up brings neither; its
 * heartbeat goes into a full buffer, too.) A reader that takes nothing at all for a minute is cut off
 * by the connection timeout of the server. The heartbeat keeps that one, and every proxy on the way,
 * from cutting off a reader that merely gets no news.
 */
export class EventStream {
  readonly #raw: ServerResponse;
  readonly #over = new AbortController();
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(raw: ServerResponse) {
    this.#raw = raw;
    for (const event of ['finish', 'close', 'error']) raw.on(event, () => this.#leave());
  }

  /** Aborts when the reader is gone or the server stops: there is nobody left to write to. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** From here on the answer is a stream; before it can still become any other one. */
  begin(headers: Headers, heartbeatMs: number): void {
    const own = { 'content-type': EVENT_STREAM, connection: 'close', 'x-accel-buffering': 'no' };
    this.#raw.writeHead(200, { ...headers, ...own });
    this.#raw.write(`retry: ${RECONNECT_MS}\n\n`);
    this.#heartbeat = setInterval(() => {
      if (!this.#raw.writableNeedDrain) this.#raw.write(': still here\n\n');
    }, heartbeatMs);
  }

  /** Resolves when there is room for more, or nobody left to write to. */
  async write(text: string): Promise<void> {
    if (this.signal.aborted || text === '' || this.#raw.write(text)) return;
    await once(this.#raw, 'drain', { signal: this.signal }).catch(() => undefined);
  }

  /** All was sent that ever will be. */
  finish(): void {
    clearInterval(this.#heartbeat);
    this.#raw.end('event: end\ndata: {}\n\n');
  }

  /** Ends it at once and without the `end`, so that the reader comes again and goes on elsewhere. */
  stop(): void {
    this.#leave();
    if (this.#heartbeat === undefined) return;
    // A reader that is behind would keep the connection open until it has read all that waits here.
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

/** How long an EventSource waits before it comes again; told to it at the start of each stream. */
const RECONNECT_MS = 1_000;

/** One message. JSON has no line ends of its own, so the data is always one line. */
export function message(id: string, event: string, data: unknown): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Only who names the type gets a stream: with a wildcard any answer will do, and a page ends. */
export function wantsStream(accept = ''): boolean {
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === EVENT_STREAM && !parameters.some((one) => /^q=0(\.0*)?$/.test(one));
  });
}
