import { createParser, type EventSourceMessage } from 'eventsource-parser';

/** The server says something every 15 s; a connection that is silent for so long is a dead one. */
const SILENCE_MAX_MS = 45_000;

/**
 * The messages of one connection, for as long as it lasts. Whether it was closed, broke or went
 * silent is all the same to a reader that knows where to go on, so none of them is an error. Reading
 * waits for the caller: a slow one slows down the server instead of filling the memory here.
 */
export async function* messagesOf(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
  silenceMaxMs = SILENCE_MAX_MS,
): AsyncGenerator<EventSourceMessage, void, undefined> {
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

/** Null when nothing more will come. */
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
