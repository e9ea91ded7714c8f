import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';

const BODY_TIMEOUT_MS = 30_000;
/** Node's limit for a whole request, which is the one of an upload. */
export const UPLOAD_TIMEOUT_MS = 600_000;

/**
 * Cuts a request whose body does not arrive in time. Node has one limit for all requests, and an
 * upload of code over a slow line takes minutes. It gets more time when its caller is known.
 */
export function limitBodyTime(app: FastifyInstance, timeoutMs: number = BODY_TIMEOUT_MS): void {
  const timers = new WeakMap<IncomingMessage, NodeJS.Timeout>();
  const stop = (request: IncomingMessage) => clearTimeout(timers.get(request));
  app.server.on('request', (request) => {
    if (!hasBody(request)) return;
    const cut = () => {
      const error = Object.assign(new Error('slow body'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
      app.server.emit('clientError', error, request.socket);
    };
    timers.set(request, setTimeout(cut, timeoutMs).unref());
    request.once('end', () => stop(request));
    request.once('close', () => stop(request));
  });
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.routeOptions.config.streams) stop(request.raw);
    done();
  });
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
