import type { EventSourceMessage } from 'eventsource-parser';

/** The server sends a message every 15 s; after this silence the connection counts as dead. */
const SILENCE_MAX_MS = 45_000;

/**
 * The messages of one connection. A closed, broken or silent connection is no error: the reader
 * reconnects at its position. Reading waits for the caller, so a slow caller slows down the server
 * instead of filling the memory.
 */
export async function* messagesOf(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
  silenceMaxMs = SILENCE_MAX_MS,
): AsyncGenerator<EventSourceMessage, void, undefined> {
  // Most programs that import the client follow nothing.
  const { createParser } = await import('eventsource-parser');
  const arrived: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => arrived.push(message) });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const bytes = await nextOf(reader, silenceMaxMs);
      signal?.throwIfAborted();
      if (bytes === null) return;
      parser.feed(decoder.decode(bytes, { stream: true }));
      yield* arrived.splice(0);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Null at the end. */
async function nextOf(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  silenceMaxMs: number,
): Promise<Uint8Array | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), silenceMaxMs);
  });
  const read = reader.read().then(
    ({ done, value }) => (done ? null : value),
    () => null,
  );
  try {
    return await Promise.race([read, silence]);
  } finally {
    clearTimeout(timer);
  }
}
