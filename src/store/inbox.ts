import type { Clock } from '../runtime/clock.ts';
import { type JobRequest, newJob } from '../core/new-job.ts';
import type { Db } from './db.ts';
import { Catalog } from './definitions.ts';
import { announce, EnqueueBatch, enqueueAndWake } from './enqueue-batch.ts';
import type { EnqueuedJob, Entry } from './enqueue.ts';
import type { HandOver } from './hand-over.ts';
import { JobIds } from './job-ids.ts';
import { Lanes } from './lanes.ts';
import type { Waker } from './wake.ts';

export { IdempotencyConflict, type EnqueuedJob } from './enqueue.ts';

/** Where all jobs come in: HTTP, the SDK in process, schedules. One path, one set of rules. */
export class Inbox {
  readonly #db: Db;
  readonly #catalog: Catalog;
  readonly #lanes: Lanes;
  readonly #ids: JobIds;
  readonly #waker: Waker;
  readonly #batch: EnqueueBatch;
  readonly #handOver: HandOver | null;

  constructor(db: Db, waker: Waker, clock: Clock, handOver: HandOver | null = null) {
    this.#db = db;
    this.#catalog = new Catalog(db, clock);
    this.#lanes = new Lanes(db, db.shards);
    this.#ids = new JobIds(clock);
    this.#waker = waker;
    this.#batch = new EnqueueBatch(db, this.#waker);
    this.#handOver = handOver;
  }

  /** Stores all requests or none, in one transaction, and answers in their order. */
  async start(requests: readonly JobRequest[]): Promise<EnqueuedJob[]> {
    const [only] = requests;
    if (only && requests.length === 1) return [await this.#startOne(only)];
    const entries: Entry[] = [];
    for (const request of requests) entries.push(await this.prepare(request));
    return await enqueueAndWake(this.#db, this.#waker, entries, true);
  }

  async #startOne(request: JobRequest): Promise<EnqueuedJob> {
    const entry = await this.prepare(request);
    const handedTo = this.#reserve(entry);
    if (handedTo === null || !this.#handOver) {
      return await this.#batch.add(entry);
    }
    try {
      const answer = await this.#batch.add({ ...entry, handedTo });
      if (answer.status === 'running' && answer.created) this.#begin(entry, this.#handOver);
      else this.#handOver.release();
      return answer;
    } catch (error) {
      this.#handOver.release();
      throw error;
    }
  }

  /** Only a plain job that may run at once is handed over; the others have reasons to wait. */
  #reserve({ job, lane }: Entry): string | null {
    const waits = job.hold || job.runAt !== null || (job.delayMs ?? 0) > 0;
    if (waits || job.idempotencyKey !== null || job.concurrencyKey !== null) return null;
    return this.#handOver?.reserve(lane, -job.priority) ?? null;
  }

  #begin({ job, lane }: Entry, handOver: HandOver): void {
    handOver.begin(lane, {
      id: job.id,
      lane: lane.lane,
      rank: -job.priority,
      seq: 0,
      attempts: 1,
      maxAttempts: job.maxAttempts,
      claim: 1,
      interruptions: 0,
      paramsJson: job.paramsJson,
      policy: job.policy,
      gated: false,
    });
  }

  /** Tells who must know about jobs that a caller stored itself, after its commit. */
  announce(entries: readonly Entry[], answers: readonly EnqueuedJob[]): void {
    announce(this.#waker, entries, answers);
  }

  /** A job as it will be stored, for a caller that stores it in a transaction of its own. */
  async prepare(request: JobRequest): Promise<Entry> {
    const { tenant, definitionKey, definitionVersion } = request;
    const published = await this.#catalog.find(definitionKey, definitionVersion);
    const version = definitionVersion ?? published?.version ?? 1;
    const lane = await this.#lanes.resolve(tenant, definitionKey, version);
    return { job: newJob(this.#ids.next(lane.shard), request, published), lane };
  }
}
