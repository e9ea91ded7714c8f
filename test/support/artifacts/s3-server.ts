import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { startFauxqs } from 'fauxqs';
import { signatureProblem } from './sigv4.ts';

/** What the proxy does to a request or its answer. */
export type S3Fault =
  | 'none'
  /** Half of the body, then the connection breaks. */
  | 'truncate'
  /** Half of the body, as if it were all. */
  | 'shorten'
  /** One bit of the answer differs. */
  | 'corrupt'
  /** One bit of the request differs. */
  | 'corrupt-request'
  /** The connection breaks at once. */
  | 'close'
  /** Half of the body, then nothing more. */
  | 'stall'
  /** No answer. */
  | 'hang'
  /** One piece of 16 KB after another. */
  | 'slow'
  | 500
  | 503;

export const ACCESS_KEY = 'AKIATEST';
export const SECRET_KEY = 'the+right/secret';
export const BUCKET = 'artifacts';

export interface S3Server {
  /** Of the proxy, which checks signatures. */
  endpoint: string;
  /** What happens to the next requests, one each; then nothing more. */
  faults: S3Fault[];
  /** While it is down, every request fails with 503. */
  down: boolean;
  /** The methods and paths of all requests. */
  requests: string[];
  stop(): Promise<void>;
}

/** A real S3 server behind a proxy of ours. */
export async function startS3Server(): Promise<S3Server> {
  const s3 = await startFauxqs({ port: 0, host: '127.0.0.1', logger: false });
  s3.setup({ buckets: [BUCKET] });
  const faults: S3Fault[] = [];
  const requests: string[] = [];
  const made: S3Server = {
    endpoint: '',
    faults,
    down: false,
    requests,
    async stop() {
      server.closeAllConnections();
      server.close();
      await s3.stop();
    },
  };
  const server = createServer((incoming, answer) => {
    requests.push(`${incoming.method} ${incoming.url}`);
    const fault = made.down ? 503 : (faults.shift() ?? 'none');
    serve(incoming, answer, s3.port, fault).catch(() => answer.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  made.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return made;
}

async function serve(
  incoming: IncomingMessage,
  answer: ServerResponse,
  port: number,
  fault: S3Fault,
): Promise<void> {
  if (fault === 'close') return void incoming.socket.destroy();
  const body = await bytesOf(incoming);
  if (fault === 'hang') return;
  if (typeof fault === 'number') return sendError(answer, fault, 'InternalError');
  const received = fault === 'corrupt-request' ? withWrongBit(body) : body;
  const problem = signatureProblem(incoming, received, SECRET_KEY);
  if (problem !== null) return sendError(answer, problem === 'AccessDenied' ? 403 : 400, problem);
  const { status, headers, content } = await forward(incoming, received, port);
  await send(answer, status, headers, content, fault);
}

async function forward(incoming: IncomingMessage, body: Buffer, port: number) {
  const { method, url: path, headers } = incoming;
  const outgoing = request({ host: '127.0.0.1', port, method, path, headers });
  outgoing.end(body);
  const [reply] = (await once(outgoing, 'response')) as [IncomingMessage];
  const content = await bytesOf(reply);
  return { status: reply.statusCode ?? 500, headers: reply.headers, content };
}

async function send(
  answer: ServerResponse,
  status: number,
  headers: OutgoingHttpHeaders,
  content: Buffer,
  fault: S3Fault,
): Promise<void> {
  const half = content.subarray(0, content.length >> 1);
  const body = fault === 'corrupt' ? withWrongBit(content) : fault === 'shorten' ? half : content;
  answer.writeHead(status, {
    ...headers,
    ...(fault === 'shorten' && { 'content-length': half.length }),
  });
  if (fault === 'truncate') return void answer.write(half, () => answer.destroy());
  if (fault === 'stall') return void answer.write(half);
  if (fault !== 'slow') return void answer.end(body);
  for (let at = 0; at < body.length; at += 16_384) {
    answer.write(body.subarray(at, at + 16_384));
    await new Promise((resolve) => setImmediate(resolve));
  }
  answer.end();
}

function sendError(answer: ServerResponse, status: number, code: string): void {
  answer.writeHead(status, { 'content-type': 'application/xml', connection: 'close' });
  answer.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`);
}

function withWrongBit(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  const at = copy.length >> 1;
  if (copy.length > 0) copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
  return copy;
}

async function bytesOf(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
