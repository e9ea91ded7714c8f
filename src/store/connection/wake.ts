import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { Db, type Pooler, type Queryable, statement } from './db.ts';
import { announcedMs, DUE_CHANNEL, dueText } from './due-hint.ts';

/**
 * A wake hint names levels that got work: `shard:queue:rank`, several per message. It can be lost.
 * A lone enqueue sends it in its commit. Otherwise it is sent after the commit, in its own statement,
 * because commits with a NOTIFY wait for each other at one lock. While one is being sent, new hints are collected for the next, so a burst of
 * jobs costs few messages.
 */

export const WAKE_CHANNEL = 'longshore_wake';
const PAYLOAD_MAX = 7_500;

/** No queue: workers read all levels again. A limit, pause or webhook changed, or a job is back at an old position. */
export const QUEUES_CHANGED = 0;
/** The rank of such a hint when releases or deployments changed. */
const RELEASES_CHANGED = 1;

export function isReleaseHint({ queue, rank }: LevelHint): boolean {
  return queue === QUEUES_CHANGED && rank === RELEASES_CHANGED;
}

/** Tells all workers that releases or deployments changed; each also looks from time to time. */
export async function notifyReleases(db: Queryable & { shards: number }): Promise<void> {
  const hints = Array.from({ length: db.shards }, (_, shard) => ({
    shard,
    queue: QUEUES_CHANGED,
    rank: RELEASES_CHANGED,
  }));
  await sendWakeHint(db, hints).catch(() => undefined);
}

export interface LevelHint {
  shard: number;
  queue: number;
  rank: number;
}

const NOTIFY = statement<{ pg_notify: string }>('wake', 'select pg_notify($1, $2)');

/** A hint may be lost in a crash, so its commit does not wait for the disk. */
const NOTIFY_RELAXED = statement<{ set_config: string; pg_notify: string }>(
  'wake_relaxed',
  `select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)`,
);

/** Sends one hint now. The hot path uses a `Waker`, which collects them. */
export async function sendWakeHint(db: Queryable, hints: readonly LevelHint[]): Promise<void> {
  await db.run(NOTIFY, [WAKE_CHANNEL, hints.map(hintText).join(',')]);
}

export function hintText({ shard, queue, rank }: LevelHint): string {
  return `${shard}:${queue}:${rank}`;
}

/** Has its own connection, which waits neither for other statements nor for the disk. */
export class Waker {
  readonly clock: Clock;
  readonly #db: Db;
  readonly #log: Log;
  readonly #waiting = new Set<string>();
  /** The soonest time in each shard. */
  readonly #dueInMs = new Map<number, number>();
  readonly #announcedMs: number;
  #sending: Promise<void> | undefined;

  constructor(url: string, log: Log, clock: Clock, pooler: Pooler = 'none', shards = 1) {
    const applicationName = 'longshore wake';
    this.#db = Db.open({ url, log, clock, pooler, max: 1, applicationName });
    this.#log = log;
    this.clock = clock;
    this.#announcedMs = announcedMs(shards);
  }

  wake(hints: readonly LevelHint[]): void {
    this.wakeAll(hints.map(hintText));
  }

  wakeAll(hints: readonly string[]): void {
    for (const hint of hints) this.#waiting.add(hint);
    if (this.#waiting.size > 0) this.#sendSoon();
  }

  /** Jobs with a later time were stored in a shard. The earliest is enough. */
  wakeScheduler(shard: number, dueInMs: readonly number[]): void {
    const soonest = Math.min(...dueInMs);
    if (soonest >= Math.min(this.#announcedMs, this.#dueInMs.get(shard) ?? Infinity)) return;
    this.#dueInMs.set(shard, soonest);
    this.#sendSoon();
  }

  #sendSoon(): void {
    this.#sending ??= this.#send().finally(() => (this.#sending = undefined));
  }

  /** Sends the collected hints, then closes. */
  async close(): Promise<void> {
    await this.#sending;
    await this.#db.close();
  }

  async #send(): Promise<void> {
    while (this.#waiting.size > 0 || this.#dueInMs.size > 0) {
      const [due] = this.#dueInMs;
      const [channel, payload] = due
        ? [DUE_CHANNEL, dueText({ kind: 'jobs', shard: due[0], inMs: due[1] })]
        : [WAKE_CHANNEL, takePayload(this.#waiting)];
      if (due) this.#dueInMs.delete(due[0]);
      try {
        await this.#db.run(NOTIFY_RELAXED, [channel, payload]);
      } catch (error) {
        this.#log.debug({ err: error }, 'a wake-up was not sent; polling will find the work');
      }
    }
  }
}

function takePayload(waiting: Set<string>): string {
  const hints: string[] = [];
  let length = 0;
  for (const hint of waiting) {
    if (length + hint.length + 1 > PAYLOAD_MAX) break;
    hints.push(hint);
    length += hint.length + 1;
    waiting.delete(hint);
  }
  return hints.join(',');
}

export function parseHints(payload: string): LevelHint[] {
  return payload.split(',').flatMap((hint) => {
    const [shard, queue, rank] = hint.split(':').map(Number);
    if (shard === undefined || queue === undefined || rank === undefined) return [];
    return Number.isInteger(shard) && Number.isInteger(queue) && Number.isInteger(rank)
      ? [{ shard, queue, rank }]
      : [];
  });
}
