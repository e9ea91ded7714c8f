import { hostname } from 'node:os';
import type { Log } from '../../runtime/log.ts';
import { persist } from '../../runtime/persist.ts';
import type { Death } from '../../runtime/processes/child-service.ts';
import type { Service } from '../../runtime/service.ts';
import type { Db } from '../../store/connection/db.ts';
import { noteWorkerEnd } from '../../store/workers/workers.ts';

/**
 * Stores how worker processes of this one ended, which no other process can know. It delays no
 * restart, and tries again while the database is away, which may be what ended the process.
 */
export class WorkerDeaths implements Service {
  readonly name = 'worker deaths';
  readonly #db: Db;
  readonly #log: Log;
  readonly #stopping = new AbortController();
  readonly #open = new Set<Promise<unknown>>();

  constructor(db: Db, log: Log) {
    this.#db = db;
    this.#log = log;
  }

  async start(): Promise<void> {}

  note(death: Death): void {
    const ended = { ...death, host: hostname() };
    for (let shard = 0; shard < this.#db.shards; shard += 1) {
      const noted: Promise<unknown> = this.#noteIn(shard, ended)
        // The server stops; the lease of the worker still ends.
        .catch(() => undefined)
        .finally(() => this.#open.delete(noted));
      this.#open.add(noted);
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#open);
  }

  async #noteIn(shard: number, ended: Death & { host: string }): Promise<void> {
    await persist(async () => await noteWorkerEnd(this.#db, shard, ended), {
      what: 'storing how a worker ended',
      log: this.#log,
      signal: this.#stopping.signal,
    });
  }
}
