import { ParamsChecks } from '../params/params-checks.ts';
import { type MisfitParams, MISFITS_MAX, ParamsInvalid } from '../params/params-invalid.ts';
import type { Clock } from '../runtime/clock.ts';
import { Slices } from '../runtime/slices.ts';
import type { JobLog } from '../signals/job-log.ts';
import { sending } from '../signals/spans.ts';
import { DEFAULT_MAX_ATTEMPTS } from '../core/definition/definition.ts';
import { type JobRequest, newJob, type NewJob } from '../core/job/new-job.ts';
import {
  type EnqueueWarning,
  type Registered,
  unregistered,
} from '../core/definition/enqueue-warning.ts';
import { isEnvelopeText } from '../core/access/sealed.ts';
import { homeShard } from '../core/queue/shard.ts';
import type { ClaimedJob } from '../store/claim/claim.ts';
import type { Db } from '../store/connection/db.ts';
import { Catalog } from '../store/enqueue/definitions.ts';
import { announce, EnqueueBatch, enqueueAndWake } from '../store/enqueue/enqueue-batch.ts';
import type { EnqueuedJob, Entry } from '../store/enqueue/enqueue-entry.ts';
import type { DirectStart } from '../store/enqueue/direct-start.ts';
import { JobIds } from '../store/connection/job-ids.ts';
import { type Queue, Queues } from '../store/enqueue/queues.ts';
import type { Quotas } from './quotas.ts';
import type { Waker } from '../store/connection/wake.ts';

/** Routes know it from here: the statements beside it are none of theirs (`test/tenant-wall.test.ts`). */
export { IdempotencyConflict } from '../store/enqueue/held-keys.ts';

/** The request at this index asks for a job that would be over before it could begin. */
export class AlreadyExpired extends Error {
  override name = 'AlreadyExpired';
  readonly index: number;

  constructor(index: number) {
    super('expiresAt is over already');
    this.index = index;
  }
}

/** The search for the nearest name takes time: it is done for this many keys of one request. */
const SUGGESTIONS_MAX = 10;

/** What is needed of a request to judge its params. */
export type ParamsRequest = Pick<
  JobRequest,
  'definitionKey' | 'definitionVersion' | 'paramsJson' | 'skipValidation'
>;

/** Where all jobs come in: HTTP, the SDK in process, schedules. One path, one set of rules. */
export class Enqueuer {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #catalog: Catalog;
  readonly #queues: Queues;
  readonly #ids: JobIds;
  readonly #waker: Waker;
  readonly #batch: EnqueueBatch;
  readonly #directStart: DirectStart | null;
  readonly #checks: ParamsChecks;
  readonly #quotas: Quotas | null;
  readonly #jobLog: JobLog | null;

  constructor(
    db: Db,
    waker: Waker,
    clock: Clock,
    directStart: DirectStart | null = null,
    quotas: Quotas | null = null,
    jobLog: JobLog | null = null,
  ) {
    this.#db = db;
    this.#clock = clock;
    this.#catalog = new Catalog(db, clock);
    this.#queues = new Queues(db, db.shards);
    this.#ids = new JobIds(clock);
    this.#waker = waker;
    this.#batch = new EnqueueBatch(db, this.#waker);
    this.#directStart = directStart;
    this.#checks = new ParamsChecks(clock);
    this.#quotas = quotas;
    this.#jobLog = jobLog;
  }

  /** Stores all requests or none, in one transaction, and answers in their order. */
  async start(requests: readonly JobRequest[]): Promise<EnqueuedJob[]> {
    this.#refuseExpired(requests);
    await this.checkParams(requests);
    const [only] = requests;
    // All of them are of one tenant, that of the caller.
    const params = requests.map(({ paramsJson }) => paramsJson);
    if (only) await this.#quotas?.permitJobs(only.tenant, params);
    return await sending(requests, async (traced) => {
      const answers = await this.#store(traced);
      if (this.#jobLog?.logsAny) this.#tell(traced, answers);
      return answers;
    });
  }

  async #store(requests: readonly JobRequest[]): Promise<EnqueuedJob[]> {
    const [only] = requests;
    if (only && requests.length === 1) return [await this.#startOne(only)];
    const entries: Entry[] = [];
    const slices = new Slices();
    for (const request of requests) {
      entries.push(await this.prepare(request));
      if (slices.isOver) await slices.pause();
    }
    return await enqueueAndWake(this.#db, this.#waker, entries, true);
  }

  #tell(requests: readonly JobRequest[], answers: readonly EnqueuedJob[]): void {
    for (const [index, { jobId, status, created }] of answers.entries()) {
      const request = requests[index];
      if (!created || !request) continue;
      const { definitionKey: definition, tenant, traceparent } = request;
      this.#jobLog?.info({ jobId, definition, tenant, traceparent }, 'job.enqueued', { status });
    }
  }

  #refuseExpired(requests: readonly JobRequest[]): void {
    const nowMs = this.#clock.now().getTime();
    const past = requests.findIndex(({ expiresAt }) => expiresAt && expiresAt.getTime() <= nowMs);
    if (past >= 0) throw new AlreadyExpired(past);
  }

  /** Throws when the params do not fit what is published of their definition, as far as it is. */
  async checkParams(requests: readonly ParamsRequest[]): Promise<void> {
    const found: MisfitParams[] = [];
    const slices = requests.length > 1 ? new Slices() : null;
    for (const [index, request] of requests.entries()) {
      if (slices?.isOver) await slices.pause();
      const { definitionKey: key, definitionVersion, paramsJson } = request;
      const published = await this.#catalog.find(key, definitionVersion);
      // Sealed params of a schedule that this process cannot open are validated by the worker.
      if (!published || request.skipValidation || isEnvelopeText(paramsJson)) continue;
      for (const violation of this.#checks.violations({ ...published, key }, paramsJson)) {
        found.push({ index, ...violation });
      }
      if (found.length >= MISFITS_MAX) break;
    }
    if (found.length > 0) throw new ParamsInvalid(found);
  }

  /** What the callers of stored jobs should know of each. A registered definition costs one look-up. */
  async warnings(requests: readonly JobRequest[]): Promise<EnqueueWarning[][]> {
    const told = new Map<string, EnqueueWarning[]>();
    const answers: EnqueueWarning[][] = [];
    let all: Registered | undefined;
    for (const { definitionKey: key, definitionVersion: version } of requests) {
      const name = `${key}@${version}`;
      const known = (await this.#catalog.find(key, version)) ? [] : told.get(name);
      if (known === undefined) {
        all ??= this.#catalog.all();
        told.set(name, [unregistered(key, version, all, told.size < SUGGESTIONS_MAX)]);
      }
      answers.push(known ?? told.get(name) ?? []);
    }
    return answers;
  }

  async #startOne(request: JobRequest): Promise<EnqueuedJob> {
    const entry = await this.prepare(request);
    const handedTo = this.#reserve(entry);
    if (handedTo === null || !this.#directStart) {
      return await this.#batch.add(entry);
    }
    try {
      const answer = await this.#batch.add({ ...entry, handedTo });
      if (answer.status === 'running' && answer.created) {
        this.#directStart.begin(entry.queue, firstClaimOf(entry), handedTo);
      } else this.#directStart.release();
      return answer;
    } catch (error) {
      this.#directStart.release();
      throw error;
    }
  }

  /** Only a plain job that may run at once is handed over; the others have reasons to wait. */
  #reserve({ job, queue }: Entry): string | null {
    const waits = job.hold || job.runAt !== null || (job.delayMs ?? 0) > 0;
    const keyed = job.idempotencyKey !== null || job.concurrencyKey !== null || job.unique !== null;
    // Only a claim asks the definition for the number of attempts.
    if (waits || keyed || job.maxAttempts === null) return null;
    return this.#directStart?.reserve(queue, -job.priority) ?? null;
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
    const queue = await this.#queues.resolve(tenant, definitionKey, version);
    const job = newJob(this.#ids.next(queue.shard), request, published);
    const sealedParams = this.#db.vault.seal(tenant, job.paramsJson);
    return { job, queue, keyShard: this.#keyShard(job, queue), sealedParams };
  }

  /** A key that counts for a whole tenant must be in one place for all its definitions. */
  #keyShard({ tenant, idempotencyKey, idempotencyScope }: NewJob, queue: Queue): number {
    if (idempotencyKey === null || idempotencyScope === 'definition') return queue.shard;
    return homeShard(tenant, idempotencyKey, this.#db.shards);
  }
}

/** A job that was stored already running, as its worker has to know it. */
function firstClaimOf({ job, queue }: Entry): ClaimedJob {
  return {
    id: job.id,
    queue: queue.queue,
    rank: -job.priority,
    seq: 0,
    attempts: 1,
    // A job without one is not handed over.
    maxAttempts: job.maxAttempts ?? DEFAULT_MAX_ATTEMPTS,
    claim: 1,
    interruptions: 0,
    paramsJson: job.paramsJson,
    policy: job.policy,
    limited: false,
    traceparent: job.traceparent,
  };
}
