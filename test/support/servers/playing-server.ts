import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A request as it arrived. */
export interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: unknown;
  /** Of the client: the same for all requests of a connection. */
  port: number | undefined;
}

export type Answer = (response: ServerResponse) => void;

/**
 * A real server on loopback that plays the answers in order and then repeats the last one. Clients
 * are tested against it, because a faked `fetch` would not break the way networks do.
 */
export async function playAnswers(...answers: Answer[]): Promise<{ url: string; seen: Seen[] }> {
  return await playBeside({}, ...answers);
}

/** Likewise; paths that end like this have an answer of their own and are not counted. */
export async function playBeside(
  beside: Record<string, Answer>,
  ...answers: Answer[]
): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const own = Object.entries(beside).find(([end]) => request.url?.endsWith(end));
    if (own) return own[1](response);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const { method = '', url = '', headers } = request;
      const body = text === '' ? undefined : (JSON.parse(text) as unknown);
      seen.push({ method, url, headers, body, port: request.socket.remotePort });
      const answer = answers[Math.min(seen.length, answers.length) - 1];
      answer?.(response);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

export function problem(
  status: number,
  code: string,
  headers: Record<string, string> = {},
): Answer {
  return json(status, { code, title: code, status, detail: `detail of ${code}` }, headers);
}

/** The connection breaks before an answer. */
export const hangUp: Answer = (response) => {
  response.destroy();
};

/** The connection stays open and nothing comes. */
export const silence: Answer = () => {};

/** A live stream that says this, and then stays open, is closed, or breaks. */
export function stream(text: string, then: 'stay' | 'close' | 'break' = 'close'): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', connection: 'close' });
    response.write(text, () => {
      if (then === 'break') response.destroy();
    });
    if (then === 'close') response.end();
  };
}

/** One message of such a stream. */
export function event(id: number, name = 'log'): string {
  return `id: ${id}\nevent: ${name}\ndata: {"id":"${id}"}\n\n`;
}

export const END = 'event: end\ndata: {}\n\n';
