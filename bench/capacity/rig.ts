import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createLongshore, type EnqueueOptions } from '../../src/index.ts';
import { children } from '../harness/children.ts';
import { nowMs, sleep } from '../harness/clock.ts';
import { type LongshoreServer, startLongshore } from '../servers/longshore.ts';
import type { Database, Postgres } from '../servers/postgres.ts';

/** One installation for one measurement: an empty database, `longshore api` and a real worker. */

const PROGRAM = fileURLToPath(new URL('../../bin/longshore.js', import.meta.url));
const DEFINITIONS = fileURLToPath(new URL('definitions.ts', import.meta.url));
const PATIENCE_MS = 180_000;
const POLL_MS = 100;
const STOP_MS = 20_000;
const PER_CALL = 1_000;

export interface Jobs {
  key: string;
  count: number;
  params?: (n: number) => object;
  options?: (n: number) => EnqueueOptions;
}

export class Rig implements AsyncDisposable {
  readonly database: Database;
  readonly api: LongshoreServer;
  readonly #ends = new AsyncDisposableStack();
  #workers = 0;

  private constructor(database: Database, api: LongshoreServer) {
    this.database = database;
    this.api = api;
    this.#ends.use(database);
    this.#ends.use(api);
  }

  static async open(postgres: Postgres): Promise<Rig> {
    const unfinished = ['longshore.waiting', 'longshore.running'];
    const database = await postgres.clone('longshore', prepare, unfinished);
    const flags = ['--webhook-allow', '127.0.0.0/8'];
    return new Rig(database, await startLongshore(PROGRAM, 'api', database.url, flags));
  }

  /** Starts a worker and waits until it has registered. Returns the id of its process. */
  async worker(concurrency: number): Promise<number> {
    const flags = { jobs: DEFINITIONS, concurrency, 'inline-jobs': 'always', 'log-jobs': 'off' };
    const more = { 'webhook-allow': '127.0.0.0/8', 'log-level': 'error' };
    const args = Object.entries({ ...flags, ...more }).flatMap(([name, value]) => [
      `--${name}`,
      String(value),
    ]);
    const child = spawn(process.execPath, [PROGRAM, 'worker', ...args], {
      stdio: 'ignore',
      env: { ...process.env, DATABASE_URL: this.database.url },
      detached: true,
    });
    children.add(child);
    this.#ends.defer(async () => await children.end(child, STOP_MS));
    this.#workers += 1;
    await this.until(`select count(*) >= ${this.#workers} as value from longshore.worker`);
    await this.until('select count(*) > 7 as value from longshore.definition');
    return child.pid ?? 0;
  }

  /** In batches, from this process. */
  async enqueue({ key, count, params, options }: Jobs, perCall = PER_CALL): Promise<void> {
    const longshore = await createLongshore({ databaseUrl: this.database.url, worker: false });
    try {
      for (let first = 0; first < count; first += perCall) {
        const size = Math.min(perCall, count - first);
        const entries = Array.from({ length: size }, (_, i) => ({
          definition: key,
          params: params?.(first + i) ?? {},
          options: options?.(first + i) ?? {},
        }));
        await longshore.enqueueMany(entries);
      }
    } finally {
      await longshore.stop();
    }
  }

  async post(path: string, body: object = {}): Promise<void> {
    const response = await fetch(`http://127.0.0.1:${this.api.port}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  }

  async drained(): Promise<void> {
    const deadlineMs = nowMs() + PATIENCE_MS;
    while (!(await this.database.isDrained())) {
      if (nowMs() > deadlineMs) throw new Error('jobs were left unfinished');
      await sleep(POLL_MS);
    }
  }

  async until(sql: string): Promise<void> {
    const deadlineMs = nowMs() + PATIENCE_MS;
    while ((await this.#one(sql)) !== true) {
      if (nowMs() > deadlineMs) throw new Error(`never true: ${sql}`);
      await sleep(POLL_MS);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ends.disposeAsync();
  }

  async #one(sql: string): Promise<unknown> {
    const { rows } = await this.database.client.query<{ value: unknown }>(sql);
    return rows[0]?.value;
  }
}

async function prepare(databaseUrl: string): Promise<void> {
  const longshore = await createLongshore({ databaseUrl, worker: false, logLevel: 'warn' });
  await longshore.stop();
}
