import { BUCKETS, ownsBucket, type SchedulerPosition } from '../core/schedule/schedule-id.ts';
import type { Log } from '../runtime/log.ts';
import { Poller } from '../runtime/poller.ts';
import type { Service } from '../runtime/service.ts';
import type { Db } from '../store/connection/db.ts';
import { sendDueHint } from '../store/connection/due-hint.ts';
import { beatScheduler, leaveSchedulers } from '../store/workers/schedulers.ts';

export interface MembershipOptions {
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
export class SchedulerMembership implements Service {
  readonly name = 'scheduler-membership';
  readonly #options: MembershipOptions;
  readonly #poller: Poller;
  readonly #listeners: (() => void)[] = [];
  #position: SchedulerPosition = { count: 1, ordinal: 0 };
  #registered = false;

  constructor(options: MembershipOptions) {
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
    return ownsBucket(number, this.#position);
  }

  get buckets(): number[] {
    return Array.from({ length: BUCKETS }, (_, bucket) => bucket).filter((one) => this.owns(one));
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Somebody came or went: look again. */
  pollSoon(): void {
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
      await this.#notifyOthers();
    } catch (error) {
      log.debug({ err: error }, 'left without a word; others take over when the lease is over');
    }
    this.#registered = false;
  }

  async #beat(): Promise<void> {
    const { db, leaseMs, log } = this.#options;
    const before = this.#position;
    this.#position = await beatScheduler(db, this.#options, leaseMs);
    const { count, ordinal } = this.#position;
    if (before.count !== count || before.ordinal !== ordinal) {
      log.info({ schedulers: count, position: ordinal }, 'schedulers share the work');
      for (const listener of this.#listeners) listener();
    }
    if (!this.#registered) await this.#notifyOthers();
    this.#registered = true;
  }

  async #notifyOthers(): Promise<void> {
    await sendDueHint(this.#options.db, { kind: 'schedulers', inMs: 0 });
  }
}
