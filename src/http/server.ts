import type { FastifyInstance } from 'fastify';
import { bindProblem, isLoopback } from '../core/access/bind.ts';
import { DeadlineExceeded, withDeadline } from '../runtime/deadline.ts';
import type { Service } from '../runtime/service.ts';
import { StartRefusal } from '../runtime/start-refusal.ts';
import { anyKey } from '../store/access/credentials.ts';
import { buildServer } from './build-server.ts';
import type { HttpDeps } from './deps.ts';

export { buildServer } from './build-server.ts';
export type { HttpDeps } from './deps.ts';

/** Time for responses in progress when the server stops. */
const STOP_LIMIT_MS = 5_000;

/** The HTTP API as a service; stopping lets responses in progress finish. */
export class HttpServer implements Service {
  readonly name = 'http';
  readonly #deps: HttpDeps;
  #leaving = new AbortController();
  #app: FastifyInstance | undefined;

  constructor(deps: HttpDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    if (this.#app) return;
    const { host, port, db, signIn } = this.#deps;
    const isClosed = isLoopback(host) || signIn !== undefined || (await anyKey(db));
    const problem = bindProblem(host, isClosed);
    if (problem !== null) throw new StartRefusal('configuration', problem);
    this.#leaving = new AbortController();
    const app = buildServer(this.#deps, this.#leaving.signal);
    this.#app = app;
    try {
      await app.listen({ host, port });
    } catch (error) {
      this.#app = undefined;
      await app.close();
      throw listenError(error, host, port);
    }
  }

  /** From now on `/readyz` fails and no jobs run, while requests are still served. */
  beginDrain(): void {
    this.#leaving.abort();
  }

  async stop(): Promise<void> {
    const app = this.#app;
    this.#app = undefined;
    if (!app) return;
    this.beginDrain();
    const closed = app.close();
    try {
      await withDeadline(closed, STOP_LIMIT_MS, 'closing the HTTP server');
    } catch (error) {
      if (!(error instanceof DeadlineExceeded)) throw error;
      app.server.closeAllConnections();
      await closed;
    }
  }

  /** The actual address once it listens, for port 0. */
  get address(): string {
    const { host, port } = this.#deps;
    const bound = this.#app?.server.address();
    const realPort = typeof bound === 'object' && bound ? bound.port : port;
    return `http://${host.includes(':') ? `[${host}]` : host}:${realPort}`;
  }
}

/** A clear message for the common errors of `listen`. */
function listenError(error: unknown, host: string, port: number): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const refusal = (words: string) => new StartRefusal('configuration', words, { cause: error });
  if (code === 'EADDRINUSE') {
    const who = `another program uses port ${port} on ${host}`;
    return refusal(`${who}; stop it, or choose another port: --port ${port + 1}`);
  }
  if (code === 'EACCES') {
    return refusal(`port ${port} needs higher privileges; use --port to choose another`);
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return refusal(`${host} is not an address of this machine; use --host to choose another`);
  }
  return error;
}
