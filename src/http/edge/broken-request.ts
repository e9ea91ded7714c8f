import type { Socket } from 'node:net';
import { Refusal } from '../../protocol/refusal.ts';
import { PROBLEM_TYPE, problemOf } from '../problem.ts';

/** What Node's parser says, in our words. Anything else is simply not proper HTTP. */
const REASONS: Record<string, Refusal> = {
  HPE_HEADER_OVERFLOW: new Refusal('HEADERS_TOO_LARGE', 'the headers are larger than 16 KB'),
  ERR_HTTP_REQUEST_TIMEOUT: new Refusal('REQUEST_TIMEOUT', 'the request did not arrive in time'),
};
const OTHERWISE = new Refusal('BAD_REQUEST', 'the request is not proper HTTP/1.1');

/** Such a request never became one, so there is no reply object: the answer is written by hand. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = problemOf(REASONS[error.code ?? ''] ?? OTHERWISE);
  const body = JSON.stringify(problem);
  socket.end(
    `HTTP/1.1 ${problem.status} ${problem.title}\r\n` +
      `content-type: ${PROBLEM_TYPE}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n` +
      `connection: close\r\n\r\n${body}`,
  );
}
