import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { Db, type Pooler, type Queryable, statement } from './db.ts';
import { DUE_CHANNEL, dueText, SLEEP_MS_MAX } from './due-hint.ts';

/**
 * A wake-up tells workers which levels got work: `shard:queue:rank`, several to a message. It is a
 * hint and never the truth. It is sent after the commit and in a statement of its own, because a
 * NOTIFY inside the inserting transaction makes all such commits queue up behind one lock; and while
 * one is under way, new hints gather for the next, so that a burst of jobs costs a few messages.
 */

export const WAKE_CHANNEL = 'longshore_wake';
const PAYLOAD_MAX = 7_500;

/** Not a queue: as a hint it says that queues themselves have changed, by a limit or a pause. */
export const QUEUES_CHANGED = 0;

export interface LevelHint {
  shard: number;
  queue: number;
  rank: number;
}

const NOTIFY = statement<{ pg_notify: string }>('wake', 'select pg_notify($1, $2)');

/** A hint may be lost in a crash, so its commit need not wait for the disk. */
const NOTIFY_RELAXED = statement<{ set_config: string; pg_notify: string }>(
  'wake_relaxed',
  `select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)`,
);

/** One hint, sent now. The hot path uses a `Waker`, which gathers them. */
export async function sendWakeHint(db: Queryable, hints: readonly LevelHint[]): Promise<void> {
  await db.run(NOTIFY, [WAKE_CHANNEL, hints.map(hintText).join(',')]);
}

export function hintText({ shard, queue, rank }: LevelHint): string {
  return `${shard}:${queue}:${rank}`;
}

/** Opens a connection of its own, which neither waits for others nor for the disk. */
export class Waker {
  readonly clock: Clock;
  readonly #db: Db;
  readonly #log: Log;
  readonly #waiting = new Set<string>();
  #dueInMs: number | null = null;
  #sending: Promise<void> | undefined;

  constructor(url: string, log: Log, clock: Clock, pooler: Pooler = 'none') {
    const applicationName = 'longshore wake';
    this.#db = Db.open({ url, log, clock, pooler, max: 1, applicationName });
    this.#log = log;
    this.clock = clock;
  }

  wake(hints: readonly LevelHint[]): void {
    this.wakeAll(hints.map(hintText));
  }

  wakeAll(hints: readonly string[]): void {
    for (const hint of hints) this.#waiting.add(hint);
    if (this.#waiting.size > 0) this.#sendSoon();
  }

  /** Jobs were stored that wait for their time. Of several the earliest says it all. */
  wakeScheduler(dueInMs: readonly number[]): void {
    const soonest = Math.min(...dueInMs);
    if (soonest >= Math.min(SLEEP_MS_MAX, this.#dueInMs ?? Infinity)) return;
    this.#dueInMs = soonest;
    this.#sendSoon();
  }

  #sendSoon(): void {
    this.#sending ??= this.#send().finally(() => (this.#sending = undefined));
  }

  /** Sends what was asked for so far, then closes. */
  async close(): Promise<void> {
    await this.#sending;
    await this.#db.close();
  }

  async #send(): Promise<void> {
    while (this.#waiting.size > 0 || this.#dueInMs !== null) {
      const [channel, payload] =
        this.#dueInMs === null
          ? [WAKE_CHANNEL, takePayload(this.#waiting)]
          : [DUE_CHANNEL, dueText({ kind: 'jobs', inMs: this.#dueInMs })];
      if (channel === DUE_CHANNEL) this.#dueInMs = null;
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
