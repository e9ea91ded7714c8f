import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '../until.ts';

/** A request as it arrived. */
export interface Received {
  headers: IncomingHttpHeaders;
  body: string;
  path: string;
  method: string;
}

export type Answer = (response: ServerResponse, request: Received) => void;

/** A real server on loopback that receives webhooks. It answers 204 by default. */
export interface Receiver {
  url: string;
  port: number;
  received: Received[];
  answerWith(answer: Answer): void;
  /** Waits for so many requests in all. */
  have(count: number): Promise<Received[]>;
  close(): Promise<void>;
}

export const status =
  (code: number, headers: Record<string, string> = {}, body = ''): Answer =>
  (response) =>
    void response.writeHead(code, headers).end(body);

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  let answer = status(204);
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const one = {
        headers: request.headers,
        body,
        path: request.url ?? '',
        method: request.method ?? '',
      };
      received.push(one);
      answer(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    port,
    received,
    answerWith: (next) => (answer = next),
    have: async (count) =>
      await until(`${count} requests arrived`, () => received.length >= count && received),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
