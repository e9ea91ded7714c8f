import { BUCKETS, ownsBucket, type Place } from '../core/schedule/schedule-id.ts';
import type { Log } from '../runtime/log.ts';
import { Poller } from '../runtime/poller.ts';
import type { Service } from '../runtime/service.ts';
import type { Db } from '../store/connection/db.ts';
import { sendDueHint } from '../store/connection/due-hint.ts';
import { beatScheduler, leaveSchedulers } from '../store/workers/schedulers.ts';

export interface RosterOptions {
  db: Db;
  /** Fresh at each start. */
  instance: string;
  host: string;
  pid: number;
  version: string;
  leaseMs: number;
  heartbeatMs: number;
  log: Log;
}

/**
 * How schedulers divide the work: each holds a lease in the database, and its place among those
 * that do says which buckets of schedules, and which shards, are its own. This saves work and
 * nothing else. What keeps a slot from firing twice are row locks and unique keys, so it does no
 * harm when two believe for a moment that something is theirs. Until it knows better, one believes
 * that everything is.
 */
export class Roster implements Service {
  readonly name = 'roster';
  readonly #options: RosterOptions;
  readonly #poller: Poller;
  readonly #listeners: (() => void)[] = [];
  #place: Place = { count: 1, ordinal: 0 };
  #registered = false;

  constructor(options: RosterOptions) {
    this.#options = options;
    const { log, heartbeatMs } = options;
    const tick = async () => {
      await this.#beat();
      return heartbeatMs;
    };
    this.#poller = new Poller({ name: this.name, log, tick, maxRetryMs: heartbeatMs });
  }

  /** Jobs wait in shards, schedules in buckets; both are numbers that somebody owns. */
  owns(number: number): boolean {
    return ownsBucket(number, this.#place);
  }

  get buckets(): number[] {
    return Array.from({ length: BUCKETS }, (_, bucket) => bucket).filter((one) => this.owns(one));
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Somebody came or went: look again. */
  lookSoon(): void {
    this.#poller.wake();
  }

  async start(): Promise<void> {
    await this.#poller.start();
  }

  async stop(): Promise<void> {
    await this.#poller.stop();
    const { db, instance, log } = this.#options;
    try {
      await leaveSchedulers(db, instance);
      await this.#tellOthers();
    } catch (error) {
      log.debug({ err: error }, 'left without a word; others take over when the lease is over');
    }
    this.#registered = false;
  }

  async #beat(): Promise<void> {
    const { db, leaseMs, log } = this.#options;
    const before = this.#place;
    this.#place = await beatScheduler(db, this.#options, leaseMs);
    const { count, ordinal } = this.#place;
    if (before.count !== count || before.ordinal !== ordinal) {
      log.info({ schedulers: count, place: ordinal }, 'schedulers share the work');
      for (const listener of this.#listeners) listener();
    }
    if (!this.#registered) await this.#tellOthers();
    this.#registered = true;
  }

  async #tellOthers(): Promise<void> {
    await sendDueHint(this.#options.db, { kind: 'roster', inMs: 0 });
  }
}
