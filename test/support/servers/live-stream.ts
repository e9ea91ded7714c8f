import { connect, type Socket } from 'node:net';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { onTestFinished } from 'vitest';

export interface Listening {
  response: Response;
  /** Everything that has arrived so far. */
  messages: EventSourceMessage[];
  comments: string[];
  /** How it ended: by the server, or broken off. */
  closed: Promise<'closed' | 'broken'>;
  leave(): void;
}

/** Opens a live stream over real HTTP and keeps what arrives. */
export async function listen(
  url: string,
  headers: Record<string, string> = {},
): Promise<Listening> {
  const abort = new AbortController();
  const { signal } = abort;
  onTestFinished(() => abort.abort());
  const response = await fetch(url, {
    headers: { accept: 'text/event-stream', ...headers },
    signal,
  });
  const messages: EventSourceMessage[] = [];
  const comments: string[] = [];
  const parser = createParser({
    onEvent: (message) => messages.push(message),
    onComment: (comment) => comments.push(comment),
  });
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      parser.feed(decoder.decode(chunk as Uint8Array, { stream: true }));
    }
  };
  const closed = read().then(
    () => 'closed' as const,
    () => 'broken' as const,
  );
  return { response, messages, comments, closed, leave: () => abort.abort() };
}

/** A reader that sends its request, and then reads only on demand. */
export function lazyReader(url: string, host = 'localhost'): Socket {
  const { port, pathname, search } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  socket.pause();
  const path = `${pathname}${search}`;
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\naccept: text/event-stream\r\n\r\n`);
  return socket;
}
