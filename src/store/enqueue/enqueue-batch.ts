import type { JobState } from '../../core/job/job.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Db, DatabaseUnavailable } from '../connection/db.ts';
import { enqueue } from './enqueue.ts';
import { type EnqueuedJob, type Entry, keyShardOf } from './enqueue-entry.ts';
import { isPlain } from './enqueue-plain.ts';
import { hintText, type Waker } from '../connection/wake.ts';

interface Waiting {
  entry: Entry;
  resolve(answer: EnqueuedJob): void;
  reject(error: unknown): void;
}

const BATCH_MAX = 500;
const FLUSHES_MAX = 2;
/** While one flush is in progress, a second one starts only with this many entries. */
const WORTH_A_FLUSH = 16;
const HINTS_MAX = 100;
/** More jobs than these come from many callers, which would wait for the lock of NOTIFY. */
const NOTIFIED_IN_COMMIT_MAX = 4;

/** Stores entries and wakes workers for those that can be claimed now. */
export async function enqueueAndWake(
  db: Db,
  waker: Waker,
  entries: readonly Entry[],
  mayNotifyInCommit: boolean,
): Promise<EnqueuedJob[]> {
  // Commits with NOTIFY wait for each other at one lock, so a hint is sent with the commit only
  // when no other caller waits.
  const levels = [...new Set(entries.map(levelOf))];
  const notifiesInCommit =
    mayNotifyInCommit && levels.length > 0 && levels.length <= HINTS_MAX && isPlain(entries);
  const answers = await enqueue(db, entries, notifiesInCommit ? levels.join(',') : null);
  announce(waker, entries, answers, notifiesInCommit);
  return answers;
}

/** Wakes workers for jobs that can be claimed, unless they know already, and schedulers for due times. */
export function announce(
  waker: Waker,
  entries: readonly Entry[],
  answers: readonly EnqueuedJob[],
  workersKnow = false,
): void {
  const made = (status: JobState) =>
    entries.filter((_, index) => {
      const answer = answers[index];
      return (answer?.created || answer?.replaced) && answer.status === status;
    });
  if (!workersKnow) waker.wakeAll(made('queued').map(levelOf));
  for (const entry of made('scheduled')) {
    waker.wakeScheduler(entry.queue.shard, [dueInMs(entry, waker.clock)]);
  }
}

function dueInMs({ job }: Entry, clock: Clock): number {
  const { runAt, delayMs } = job;
  return runAt ? runAt.getTime() - clock.now().getTime() : (delayMs ?? 0);
}

function levelOf({ job, queue }: Entry): string {
  return hintText({ shard: queue.shard, queue: queue.queue, rank: -job.priority });
}

/**
 * Group commit in the process: callers that arrive while a flush is under way share the next one,
 * which costs one INSERT and one wait for the disk for all of them. A lone caller is not delayed.
 *
 * Plain jobs have a flush of their own for each shard, so that they always take the short statement
 * (`store/enqueue/enqueue-plain.ts`). Jobs with a key have another: a key that is in the open transaction
 * of another caller delays only those. Jobs share a flush only if they touch the same shards, so a shard that
 * does not answer delays no others, except jobs that wait for jobs there. A flush that fails is repeated one by one, so that one bad row fails
 * one caller.
 */
export class EnqueueBatch {
  readonly #db: Db;
  readonly #waker: Waker;
  readonly #plain: Flusher[];
  /** Of other jobs, by their kind and their shards. */
  readonly #others = new Map<string, Flusher>();

  constructor(db: Db, waker: Waker) {
    this.#db = db;
    this.#waker = waker;
    this.#plain = Array.from({ length: db.shards }, () => new Flusher(db, waker));
  }

  async add(entry: Entry): Promise<EnqueuedJob> {
    return await this.#flusherOf(entry).add(entry);
  }

  #flusherOf(entry: Entry): Flusher {
    const { idempotencyKey, concurrencyKey, unique, requestId, after } = entry.job;
    const plain = isPlain([entry]) ? this.#plain[entry.queue.shard] : undefined;
    if (plain) return plain;
    const keyless = (idempotencyKey ?? concurrencyKey ?? unique ?? requestId ?? after) === null;
    // Parents may be anywhere.
    const kind = after !== null ? 'follower' : keyless ? 'keyless' : 'keyed';
    const name = `${kind} ${entry.queue.shard} ${keyShardOf(entry)} ${entry.uniqueShard ?? ''}`;
    const known = this.#others.get(name);
    if (known) return known;
    const flusher = new Flusher(this.#db, this.#waker);
    this.#others.set(name, flusher);
    return flusher;
  }
}

class Flusher {
  readonly #db: Db;
  readonly #waker: Waker;
  #waiting: Waiting[] = [];
  #flushes = 0;
  #scheduled = false;

  constructor(db: Db, waker: Waker) {
    this.#db = db;
    this.#waker = waker;
  }

  async add(entry: Entry): Promise<EnqueuedJob> {
    return await new Promise((resolve, reject) => {
      this.#waiting.push({ entry, resolve, reject });
      this.#schedule();
    });
  }

  /** After the current microtask, so that callers of the same event share a flush. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      while (this.#worthFlush()) void this.#flush(this.#waiting.splice(0, BATCH_MAX));
    });
  }

  #worthFlush(): boolean {
    if (this.#waiting.length === 0) return false;
    if (this.#flushes === 0) return true;
    return this.#flushes < FLUSHES_MAX && this.#waiting.length >= WORTH_A_FLUSH;
  }

  async #flush(batch: Waiting[]): Promise<void> {
    this.#flushes += 1;
    try {
      const answers = await this.#store(batch);
      for (const [index, waiting] of batch.entries()) {
        const answer = answers[index];
        if (answer) waiting.resolve(answer);
      }
    } catch (error) {
      if (batch.length === 1 || error instanceof DatabaseUnavailable) {
        for (const waiting of batch) waiting.reject(error);
      } else {
        for (const waiting of batch) await this.#alone(waiting);
      }
    } finally {
      this.#flushes -= 1;
      this.#schedule();
    }
  }

  async #store(batch: readonly Waiting[]): Promise<EnqueuedJob[]> {
    const entries = batch.map(({ entry }) => entry);
    const notifiesInCommit = this.#flushes === 1 && batch.length <= NOTIFIED_IN_COMMIT_MAX;
    return await enqueueAndWake(this.#db, this.#waker, entries, notifiesInCommit);
  }

  async #alone(waiting: Waiting): Promise<void> {
    try {
      const [answer] = await this.#store([waiting]);
      if (answer) waiting.resolve(answer);
    } catch (error) {
      waiting.reject(error);
    }
  }
}
