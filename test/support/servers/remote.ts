import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Controller } from '../../../src/controller/controller.ts';
import type { HttpDeps } from '../../../src/http/deps.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { RemoteCalls } from '../../../src/worker/remote/remote-calls.ts';
import { RemoteQueue } from '../../../src/worker/remote/remote-queue.ts';
import { Worker, type WorkerOptions } from '../../../src/worker/worker.ts';
import { serverOn } from '../server-edge.ts';
import type { TestDatabase } from './database.ts';
import { SHORT_TIMES, testQueue } from './worker.ts';

export interface ApiServer {
  url: string;
  /** Ends all waits, as before a stop. */
  release(): void;
  close(): Promise<void>;
}

/** An API process in this process, on a socket, that serves workers over HTTP. */
export async function apiOn(
  database: TestDatabase,
  more: Partial<HttpDeps> = {},
): Promise<ApiServer> {
  const { db, url: databaseUrl } = database;
  const controller = new Controller({
    db,
    reserved: db,
    store: testQueue(database, db, more.large),
    databaseUrl,
    leaseMs: 10_000,
    pollMs: 200,
    clock: systemClock,
    log: silentLog,
  });
  await controller.start();
  const app = serverOn(database, { remoteWorkers: controller, ...more });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    url,
    release: () => controller.release(),
    close: async () => {
      await app.close();
      await controller.stop();
    },
  };
}

/** A worker that knows only an address and a key. */
export function remoteWorker(
  url: string,
  changes: Partial<WorkerOptions> & Pick<WorkerOptions, 'jobs'> & { key?: string | null },
): { worker: Worker; stop(): Promise<void> } {
  const calls = new RemoteCalls(url, changes.key ?? null);
  const worker = new Worker({
    queue: new RemoteQueue(calls, systemClock),
    databaseUrl: null,
    ...SHORT_TIMES,
    ...changes,
  });
  return {
    worker,
    stop: async () => {
      await worker.stop();
      calls.close();
    },
  };
}

/** What a proxy does with one call: passes it on, loses its answer, sends it twice, or loses it. */
export type Fate =
  | 'pass'
  | 'lose-answer'
  | 'twice'
  | 'lose-request'
  | { delayMs: number }
  | { answerAfterMs: number };

/** A proxy between workers and servers that mistreats calls. */
export class MeanProxy {
  readonly #server: Server;
  /** The next one gets each call, in turn. */
  readonly targets: string[];
  fate: (method: string, path: string, body: Buffer) => Fate = () => 'pass';
  readonly seen: string[] = [];
  #turn = 0;

  constructor(...targets: string[]) {
    this.targets = targets;
    this.#server = createServer((call, answer) => {
      void read(call)
        .then(async (body) => {
          const { method = '', url: path = '' } = call;
          const idle = body.includes('"idle":true');
          const name = `${method} ${path.replace(/[0-9a-f-]{36}/, 'ID')}`;
          this.seen.push(idle ? `${name} idle` : name);
          const fate = this.fate(method, path, body);
          if (fate === 'lose-request') return void call.socket.destroy();
          if (typeof fate === 'object' && 'delayMs' in fate) await pause(fate.delayMs);
          const passed = this.#pass(call, body);
          if (fate === 'twice') void this.#pass(call, body).catch(() => undefined);
          const { status, text } = await passed;
          if (fate === 'lose-answer') return void call.socket.destroy();
          if (typeof fate === 'object' && 'answerAfterMs' in fate) await pause(fate.answerAfterMs);
          answer.writeHead(status, { 'content-type': 'application/json' }).end(text);
        })
        .catch(() => call.socket.destroy());
    });
  }

  async open(): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  async #pass(call: IncomingMessage, body: Buffer): Promise<{ status: number; text: Buffer }> {
    this.#turn += 1;
    const target = new URL(this.targets[this.#turn % this.targets.length] ?? '');
    const { method, url: path, headers } = call;
    return await new Promise((resolve, reject) => {
      const passed = request(
        { host: target.hostname, port: target.port, method, path, headers },
        (answer) => {
          read(answer).then((text) => resolve({ status: answer.statusCode ?? 0, text }), reject);
        },
      );
      passed.on('error', reject);
      passed.end(body);
    });
  }
}

async function pause(ms: number): Promise<void> {
  await new Promise((done) => setTimeout(done, ms));
}

async function read(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
