import type { Socket } from 'node:net';
import { Refusal } from '../../protocol/refusal.ts';
import { PROBLEM_TYPE, problemOf } from '../problem.ts';

/** Errors of Node's HTTP parser as API errors. */
const REASONS: Record<string, Refusal> = {
  HPE_HEADER_OVERFLOW: new Refusal('HEADERS_TOO_LARGE', 'the headers are larger than 16 KB'),
  ERR_HTTP_REQUEST_TIMEOUT: new Refusal('REQUEST_TIMEOUT', 'the request did not arrive in time'),
};
const OTHERWISE = new Refusal('BAD_REQUEST', 'the request is not valid HTTP/1.1');

/** There is no reply object for such a request, so the response is written to the socket. */
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
