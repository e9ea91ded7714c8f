import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Log } from '../runtime/log.ts';
import type { Service } from '../runtime/service.ts';
import { StartRefusal } from '../runtime/start-refusal.ts';
import { VERSION } from '../version.ts';
import { CONTENT_TYPE, textOf } from './family.ts';
import { processFamilies } from './process-families.ts';

export interface MetricsServerOptions {
  host: string;
  port: number;
  text(): Promise<string>;
  log: Log;
}

/**
 * Serves the metrics of a process that has no API. Off unless a port is set. It needs no key, since
 * it exposes numbers of one process and nothing about jobs.
 */
export class MetricsServer implements Service {
  readonly name = 'metrics';
  readonly #options: MetricsServerOptions;
  #server: Server | undefined;

  constructor(options: MetricsServerOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    if (this.#server) return;
    const { host, port, log } = this.#options;
    const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        log.warn({ err: error }, 'cannot collect metrics');
        response.writeHead(500).end();
      });
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => {
        const where = `the metrics of this process cannot be served at ${host}:${port}`;
        const advice = 'choose another LONGSHORE_METRICS_PORT or LONGSHORE_METRICS_HOST';
        const words = `${where} (${error.message}); ${advice}`;
        reject(new StartRefusal('configuration', words, { cause: error }));
      });
      server.listen(port, host, resolve);
    });
    this.#server = server;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  }

  /** The real port while it listens, for tests with port 0. */
  get port(): number {
    const bound = this.#server?.address();
    return typeof bound === 'object' && bound ? bound.port : this.#options.port;
  }

  async #answer({ method, url }: IncomingMessage, response: ServerResponse): Promise<void> {
    if (method !== 'GET' || url?.split('?')[0] !== '/metrics') {
      response.writeHead(404, { 'content-type': 'text/plain' });
      response.end('only GET /metrics is here\n');
      return;
    }
    const text = await this.#options.text();
    response.writeHead(200, { 'content-type': CONTENT_TYPE });
    response.end(text);
  }
}

/** For a process that only reports on itself; none when no port is set. */
export function processMetrics(
  { metricsHost: host, metricsPort: port }: { metricsHost: string; metricsPort: number | null },
  log: Log,
): Service[] {
  if (port === null) return [];
  const text = async () => await textOf(processFamilies(VERSION));
  return [new MetricsServer({ host, port, text, log })];
}
