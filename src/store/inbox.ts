import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { type JobRequest, newJob } from '../core/new-job.ts';
import type { Db } from './db.ts';
import { Catalog } from './definitions.ts';
import { enqueue, type EnqueuedJob, type Entry } from './enqueue.ts';
import { JobIds } from './job-ids.ts';
import { Lanes } from './lanes.ts';
import { Waker } from './wake.ts';

export { IdempotencyConflict, type EnqueuedJob } from './enqueue.ts';

/** Where all jobs come in: HTTP, the SDK in process, schedules. One path, one set of rules. */
export class Inbox {
  readonly #db: Db;
  readonly #catalog: Catalog;
  readonly #lanes: Lanes;
  readonly #ids: JobIds;
  readonly #waker: Waker;

  constructor(db: Db, clock: Clock, log: Log) {
    this.#db = db;
    this.#catalog = new Catalog(db, clock);
    this.#lanes = new Lanes(db, db.shards);
    this.#ids = new JobIds(clock);
    this.#waker = new Waker(db, log);
  }

  /** Stores all requests or none, in one transaction, and answers in their order. */
  async start(requests: readonly JobRequest[]): Promise<EnqueuedJob[]> {
    const entries: Entry[] = [];
    for (const request of requests) entries.push(await this.#entry(request));
    const answers = await enqueue(this.#db, entries);
    this.#waker.wake(
      entries
        .filter((_, index) => answers[index]?.created && answers[index].status === 'queued')
        .map(({ job, lane }) => ({ shard: lane.shard, lane: lane.lane, rank: -job.priority })),
    );
    return answers;
  }

  async close(): Promise<void> {
    await this.#waker.settled();
  }

  async #entry(request: JobRequest): Promise<Entry> {
    const { tenant, definitionKey, definitionVersion } = request;
    const published = await this.#catalog.find(definitionKey, definitionVersion);
    const version = definitionVersion ?? published?.version ?? 1;
    const lane = await this.#lanes.resolve(tenant, definitionKey, version);
    return { job: newJob(this.#ids.next(lane.shard), request, published), lane };
  }
}
