import type { JobState } from '../../core/job/job.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Db, DatabaseUnavailable } from '../connection/db.ts';
import { enqueue } from './enqueue.ts';
import type { EnqueuedJob, Entry } from './enqueue-entry.ts';
import { isPlain } from './enqueue-plain.ts';
import { hintText, type Waker } from '../connection/wake.ts';

interface Waiting {
  entry: Entry;
  resolve(answer: EnqueuedJob): void;
  reject(error: unknown): void;
}

const BATCH_MAX = 500;
const FLUSHES_MAX = 2;
/** While one flush is under way, a second one starts only when it is worth a commit of its own. */
const WORTH_A_FLUSH = 16;
const HINTS_MAX = 100;
/** A lone caller's few jobs. More of them come from many callers, who would wait for the lock. */
const RIDES_MAX = 4;

/** Stores entries and tells workers about those that can be claimed now. */
export async function enqueueAndWake(
  db: Db,
  waker: Waker,
  entries: readonly Entry[],
  mayRide: boolean,
): Promise<EnqueuedJob[]> {
  // NOTIFY makes commits queue up behind one lock, so a hint rides along only when nobody queues.
  const levels = [...new Set(entries.filter(({ handedTo }) => !handedTo).map(levelOf))];
  const rides = mayRide && levels.length > 0 && levels.length <= HINTS_MAX && isPlain(entries);
  const answers = await enqueue(db, entries, rides ? levels.join(',') : null);
  announce(waker, entries, answers, (entry) => rides && !entry.handedTo);
  return answers;
}

/** Tells who must know about stored jobs, but for those they know of already. */
export function announce(
  waker: Waker,
  entries: readonly Entry[],
  answers: readonly EnqueuedJob[],
  told: (entry: Entry) => boolean = () => false,
): void {
  const made = (status: JobState) =>
    entries.filter((_, index) => {
      const answer = answers[index];
      return (answer?.created || answer?.replaced) && answer.status === status;
    });
  waker.wakeAll(
    made('queued')
      .filter((entry) => !told(entry))
      .map(levelOf),
  );
  waker.wakeScheduler(made('scheduled').map((entry) => dueInMs(entry, waker.clock)));
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
 * Jobs with a key of any kind have flushes of their own: a key that sits in somebody's open
 * transaction holds up only those. A flush that fails is tried again one by one, so that one bad row
 * fails one caller.
 */
export class EnqueueBatch {
  readonly #keyless: Flusher;
  readonly #keyed: Flusher;

  constructor(db: Db, waker: Waker) {
    this.#keyless = new Flusher(db, waker);
    this.#keyed = new Flusher(db, waker);
  }

  async add(entry: Entry): Promise<EnqueuedJob> {
    const { idempotencyKey, concurrencyKey, unique } = entry.job;
    const keyless = idempotencyKey === null && concurrencyKey === null && !unique;
    return await (keyless ? this.#keyless : this.#keyed).add(entry);
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

  /** At the end of the current turn of the event loop, so that callers of one turn share it. */
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
    const rides = this.#flushes === 1 && batch.length <= RIDES_MAX;
    return await enqueueAndWake(this.#db, this.#waker, entries, rides);
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
