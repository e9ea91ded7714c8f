import { BUCKETS, ownsBucket, type SchedulerPosition } from '../core/schedule/schedule-id.ts';
import type { Log } from '../runtime/log.ts';
import { Poller } from '../runtime/poller.ts';
import type { Service } from '../runtime/service.ts';
import type { Db } from '../store/connection/db.ts';
import { sendDueHint } from '../store/connection/due-hint.ts';
import { beatScheduler, leaveSchedulers } from '../store/workers/schedulers.ts';

export interface MembershipOptions {
  db: Db;
  /** New at each start. */
  instance: string;
  host: string;
  pid: number;
  version: string;
  leaseMs: number;
  heartbeatMs: number;
  log: Log;
}

/**
 * Divides the work among schedulers: each holds a lease in the database, and its position among the
 * live ones decides which buckets of schedules and which shards it owns. This only saves work. Row
 * locks and unique keys keep a slot from firing twice, so it does no harm when two schedulers own
 * the same for a moment. Before the first heartbeat a scheduler owns everything.
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

  /** Shards and buckets are numbers that are divided in the same way. */
  owns(number: number): boolean {
    return ownsBucket(number, this.#position);
  }

  get buckets(): number[] {
    return Array.from({ length: BUCKETS }, (_, bucket) => bucket).filter((one) => this.owns(one));
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** A scheduler joined or left: poll again. */
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
      log.debug(
        { err: error },
        'cannot sign off; other schedulers take over when the lease expires',
      );
    }
    this.#registered = false;
  }

  async #beat(): Promise<void> {
    const { db, leaseMs, log } = this.#options;
    const before = this.#position;
    this.#position = await beatScheduler(db, this.#options, leaseMs);
    const { count, ordinal } = this.#position;
    if (before.count !== count || before.ordinal !== ordinal) {
      log.info({ schedulers: count, position: ordinal }, 'the number of schedulers changed');
      for (const listener of this.#listeners) listener();
    }
    if (!this.#registered) await this.#notifyOthers();
    this.#registered = true;
  }

  async #notifyOthers(): Promise<void> {
    await sendDueHint(this.#options.db, { kind: 'schedulers', inMs: 0 });
  }
}
