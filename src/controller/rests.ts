import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { Poller } from '../runtime/poller.ts';
import type { Db } from '../store/connection/db.ts';
import { renewResting } from '../store/workers/remote-workers.ts';

/** A waiting turn of a worker that holds nothing. */
export interface Rest {
  instance: string;
  leaseMs: number;
  /** Its lease was renewed since the turn arrived. */
  renewed: boolean;
  gone: boolean;
  dueMs: number;
}

export interface RestsOptions {
  db: Db;
  clock: Clock;
  log: Log;
  /** The wait of this worker must end: it is dead, or a heartbeat has news for it. */
  onNews(instance: string): void;
}

const EVERY_MS = 1_000;
const NO_WORKER_MS = 60_000;

/** Renews the leases of workers while they wait with nothing to do, many in one statement. */
export class Rests {
  readonly #options: RestsOptions;
  readonly #poller: Poller;
  readonly #resting = new Set<Rest>();

  constructor(options: RestsOptions) {
    this.#options = options;
    const tick = async () => await this.#renew();
    this.#poller = new Poller({ name: 'leases of resting workers', log: options.log, tick });
  }

  async stop(): Promise<void> {
    await this.#poller.stop();
  }

  async begin(instance: string, leaseMs: number): Promise<Rest> {
    const dueMs = this.#options.clock.monotonicMs();
    const rest = { instance, leaseMs, renewed: false, gone: false, dueMs };
    this.#resting.add(rest);
    await this.#poller.start();
    if (this.#resting.size === 1) this.#poller.wake();
    return rest;
  }

  end(rest: Rest): void {
    this.#resting.delete(rest);
  }

  async #renew(): Promise<number> {
    const { db, clock, onNews } = this.#options;
    const nowMs = clock.monotonicMs();
    const due = [...this.#resting].filter(({ dueMs }) => dueMs <= nowMs);
    for (let shard = 0; due.length > 0 && shard < db.shards; shard += 1) {
      const rows = await renewResting(db, shard, due);
      const alive = new Map(rows.map(({ instance, news }) => [instance, news]));
      for (const rest of due) {
        const news = alive.get(rest.instance);
        if (news === undefined) rest.gone = true;
        if (news !== false) onNews(rest.instance);
      }
    }
    for (const rest of due) {
      rest.renewed = true;
      rest.dueMs = nowMs + rest.leaseMs / 3;
    }
    if (this.#resting.size === 0) return NO_WORKER_MS;
    return Math.min(EVERY_MS, ...[...this.#resting].map(({ leaseMs }) => leaseMs / 6));
  }
}
