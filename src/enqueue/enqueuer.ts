import { ParamsChecks } from '../params/params-checks.ts';
import { type MisfitParams, MISFITS_MAX, ParamsInvalid } from '../params/params-invalid.ts';
import type { Clock } from '../runtime/clock.ts';
import { Slices } from '../runtime/slices.ts';
import type { JobLog } from '../signals/job-log.ts';
import { sending } from '../signals/spans.ts';
import {
  type JobRequest,
  newJob,
  type PublishedDefaults,
  queueVersion,
} from '../core/job/new-job.ts';
import {
  type EnqueueWarning,
  newerShape,
  type Registered,
  unregistered,
} from '../core/definition/enqueue-warning.ts';
import { timeOfJobId } from '../core/job/job-id.ts';
import { PARAMS_MAX_BYTES } from '../core/job/params.ts';
import type { LargeValues } from '../large/large-values.ts';
import { FIRST_SHAPE } from '../core/shape/upgrade.ts';
import { isEnvelopeText } from '../core/access/sealed.ts';
import { homeShard } from '../core/queue/shard.ts';
import { REQUEST_AHEAD_MS } from '../core/shards/spread.ts';
import type { Db } from '../store/connection/db.ts';
import { Catalog, type VersionRequest } from '../store/enqueue/catalog.ts';
import { announce, EnqueueBatch, enqueueAndWake } from '../store/enqueue/enqueue-batch.ts';
import type { EnqueuedJob, Entry } from '../store/enqueue/enqueue-entry.ts';
import { JobIds } from '../store/connection/job-ids.ts';
import { type Queue, Queues } from '../store/enqueue/queues.ts';
import { ONLY_PLACE, type Placement, placeOf } from './placement.ts';
import { jobIdOfRequest } from '../store/enqueue/request-job-id.ts';
import { isCurrent } from './request-id.ts';
import { NotRegistered } from './not-registered.ts';
import { TimeRefused } from './time-refused.ts';
import type { Quotas } from './quotas.ts';
import type { Waker } from '../store/connection/wake.ts';

/** Routes know it from here: the statements beside it are none of theirs (`test/tenant-wall.test.ts`). */
export { ParentUnknown } from '../store/edges/watch-parents.ts';
export { IdempotencyConflict } from '../store/enqueue/key-holders.ts';

/** The search for the nearest name takes time: it is done for this many keys of one request. */
const SUGGESTIONS_MAX = 10;

/** What is needed of a request to judge its params. */
export type ParamsRequest = Pick<
  JobRequest,
  'tenant' | 'definitionKey' | 'definitionVersion' | 'paramsJson' | 'paramsShape' | 'skipValidation'
>;

/** What is needed of a request to judge whether its definition is registered. */
export type RegisteredRequest = VersionRequest & Pick<JobRequest, 'requireRegistered'>;

/** Where all jobs come in: HTTP, the SDK in process, schedules. One path, one set of rules. */
export class Enqueuer {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #catalog: Catalog;
  readonly #queues: Queues;
  readonly #ids: JobIds;
  readonly #waker: Waker;
  readonly #batch: EnqueueBatch;
  readonly #checks: ParamsChecks;
  readonly #quotas: Quotas | null;
  readonly #jobLog: JobLog | null;
  readonly #requiresRegistered: boolean;
  readonly #large: LargeValues | null;

  constructor(
    db: Db,
    waker: Waker,
    clock: Clock,
    quotas: Quotas | null = null,
    jobLog: JobLog | null = null,
    requiresRegistered = false,
    large: LargeValues | null = null,
  ) {
    this.#db = db;
    this.#clock = clock;
    this.#catalog = new Catalog(db, clock, db.shards);
    this.#queues = new Queues(db, db.shards);
    this.#ids = new JobIds(clock);
    this.#waker = waker;
    this.#batch = new EnqueueBatch(db, this.#waker);
    this.#checks = new ParamsChecks(clock);
    this.#quotas = quotas;
    this.#jobLog = jobLog;
    this.#requiresRegistered = requiresRegistered;
    this.#large = large;
  }

  /** The most bytes of params; more than the default where large values are stored elsewhere. */
  get paramsMaxBytes(): number {
    return this.#large?.limit('params') ?? PARAMS_MAX_BYTES;
  }

  /** Reads the definitions again before the next job. */
  forgetDefinitions(): void {
    this.#catalog.forget();
  }

  /** Stores all requests or none, in one transaction, and answers in their order. */
  async start(requests: readonly JobRequest[]): Promise<EnqueuedJob[]> {
    const judged = await this.#judge(requests);
    return await sending(judged, async (traced) => {
      const answers = await this.#store(traced);
      if (this.#jobLog?.logsAny) this.#tell(traced, answers);
      return answers;
    });
  }

  /** Judges requests as `start` does, and prepares them for a caller that stores them itself. */
  async admit(requests: readonly JobRequest[]): Promise<Entry[]> {
    return await this.#prepareAll(await this.#judge(requests));
  }

  /** The requests, to store as they were judged. */
  async #judge(asked: readonly JobRequest[]): Promise<readonly JobRequest[]> {
    this.#refuseTimes(asked);
    if (this.#db.shards > 1) await this.#refuseEarly(asked);
    await this.refuseUnregistered(asked);
    const stale = this.#catalog.refresh();
    if (stale) await stale;
    const requests = this.#catalog.drawn(asked);
    await this.checkParams(requests);
    const [first] = requests;
    // All of them are of one tenant, that of the caller.
    const params = requests.map(({ paramsJson }) => paramsJson);
    if (first) await this.#quotas?.permitJobs(first.tenant, params);
    return requests;
  }

  async #store(requests: readonly JobRequest[]): Promise<EnqueuedJob[]> {
    const [only] = requests;
    if (only && requests.length === 1) return [await this.#batch.add(await this.prepare(only))];
    const entries = await this.#prepareAll(requests);
    return await enqueueAndWake(this.#db, this.#waker, entries, true);
  }

  async #prepareAll(requests: readonly JobRequest[]): Promise<Entry[]> {
    const entries: Entry[] = [];
    const slices = new Slices();
    for (const request of requests) {
      entries.push(this.#prepareNow(request) ?? (await this.prepare(request)));
      if (slices.isOver) await slices.pause();
    }
    return entries;
  }

  #tell(requests: readonly JobRequest[], answers: readonly EnqueuedJob[]): void {
    for (const [index, { jobId, status, created }] of answers.entries()) {
      const request = requests[index];
      if (!created || !request) continue;
      const { definitionKey: definition, tenant, traceparent } = request;
      this.#jobLog?.info({ jobId, definition, tenant, traceparent }, 'job.enqueued', { status });
    }
  }

  #refuseTimes(requests: readonly JobRequest[]): void {
    const nowMs = this.#clock.now().getTime();
    for (const [index, { expiresAt, requestId }] of requests.entries()) {
      if (expiresAt && expiresAt.getTime() <= nowMs) {
        throw new TimeRefused(index, 'expiresAt', 'must be a time to come');
      }
      if (requestId !== null && !isCurrent(requestId, nowMs)) {
        throw new TimeRefused(index, 'requestId', 'must be made within the last day');
      }
    }
  }

  /**
   * Where there are several shards, a request id says with its time where its job is
   * (`core/shards/spread.ts`), so it may not come from a time whose spreads no process knows yet.
   */
  async #refuseEarly(requests: readonly JobRequest[]): Promise<void> {
    const latestMs = () => this.#catalog.spreads.atMs + REQUEST_AHEAD_MS;
    const isEarly = ({ requestId }: JobRequest) =>
      requestId !== null && timeOfJobId(requestId) > latestMs();
    await this.#catalog.refresh();
    if (!requests.some(isEarly)) return;
    this.#catalog.forget();
    await this.#catalog.refresh();
    const index = requests.findIndex(isEarly);
    if (index < 0) return;
    const detail =
      'is more than a minute ahead of the clock of the database: use an idempotencyKey';
    throw new TimeRefused(index, 'requestId', detail);
  }

  /** Throws when no worker has registered a definition, if the request or this server requires it. */
  async refuseUnregistered(requests: readonly RegisteredRequest[]): Promise<void> {
    const requires = ({ requireRegistered: asked }: RegisteredRequest) =>
      asked ?? this.#requiresRegistered;
    const isMissing = (request: RegisteredRequest) =>
      requires(request) && !this.#catalog.find(request);
    if (!requests.some(requires)) return;
    await this.#catalog.refresh();
    if (!requests.some(isMissing)) return;
    // A worker may have registered it a moment ago.
    this.#catalog.forget();
    await this.#catalog.refresh();
    const index = requests.findIndex(isMissing);
    const request = requests[index];
    if (!request) return;
    const { definitionKey: key, definitionVersion: version, tenant } = request;
    throw new NotRegistered(index, unregistered(key, version, this.#catalog.all(tenant)).detail);
  }

  /** Throws when params do not match the published schema, if there is one. */
  async checkParams(requests: readonly ParamsRequest[]): Promise<void> {
    const found: MisfitParams[] = [];
    const slices = requests.length > 1 ? new Slices() : null;
    for (const [index, request] of requests.entries()) {
      if (slices?.isOver) await slices.pause();
      const { definitionKey: key, paramsJson } = request;
      const stale = this.#catalog.refresh();
      if (stale) await stale;
      const published = this.#catalog.find(request);
      // Sealed params of a schedule that this process cannot open are validated by the worker.
      if ((published?.paramsSchema ?? null) === null || !published) continue;
      if (request.skipValidation || isEnvelopeText(paramsJson)) continue;
      // The schema is that of the current shape. Others are validated after their upgrade.
      if ((request.paramsShape ?? shapeOf(published)) !== shapeOf(published)) continue;
      for (const violation of this.#checks.violations({ ...published, key }, paramsJson)) {
        found.push({ index, ...violation });
      }
      if (found.length >= MISFITS_MAX) break;
    }
    if (found.length > 0) throw new ParamsInvalid(found);
  }

  /** The shape of params that the published code of a definition works with. */
  async currentShape(request: VersionRequest): Promise<number> {
    await this.#catalog.refresh();
    return shapeOf(this.#catalog.find(request));
  }

  /** What the callers of stored jobs and schedules should know of each. A registered definition costs one look-up. */
  async warnings(
    requests: readonly (VersionRequest & Pick<JobRequest, 'paramsShape'>)[],
  ): Promise<EnqueueWarning[][]> {
    const told = new Map<string, EnqueueWarning[]>();
    const answers: EnqueueWarning[][] = [];
    let all: Registered | undefined;
    await this.#catalog.refresh();
    for (const request of requests) {
      const { definitionKey: key, definitionVersion: version } = request;
      const name = `${key}@${version}`;
      const published = this.#catalog.find(request);
      const known = published ? newerShape(request, published) : told.get(name);
      if (known === undefined) {
        all ??= this.#catalog.all(request.tenant);
        told.set(name, [unregistered(key, version, all, told.size < SUGGESTIONS_MAX)]);
      }
      answers.push(known ?? told.get(name) ?? []);
    }
    return answers;
  }

  /** Tells who must know about jobs that a caller stored itself, after its commit. */
  announce(entries: readonly Entry[], answers: readonly EnqueuedJob[]): void {
    announce(this.#waker, entries, answers);
  }

  /**
   * A job as it will be stored, for a caller that stores it in a transaction of its own. `atHome`: in the
   * home shard of its definition, where its schedule is; it may not have keys then.
   */
  async prepare(given: JobRequest, atHome = false): Promise<Entry> {
    const isLarge = this.#isLarge(given);
    const request = isLarge ? withKey(given) : given;
    const { tenant, definitionKey } = request;
    await this.#catalog.refresh();
    const published = this.#catalog.find(request);
    const version = queueVersion(request, published);
    const place = atHome ? this.#home(request) : this.#placeOf(request);
    const queue = await this.#queues.resolve(tenant, definitionKey, version, place.shard);
    const entry = this.#entry(request, published, queue, place);
    if (!isLarge) return entry;
    const { id, paramsJson } = entry.job;
    // The value is durable before the job: a job never lacks it.
    const reference = await this.#large?.put(tenant, id, 'params', paramsJson);
    return reference === undefined ? entry : { ...entry, sealedParams: reference };
  }

  #isLarge({ paramsJson }: JobRequest): boolean {
    return this.#large?.needs('params', paramsJson) ?? false;
  }

  /** The same without a promise, when definition and queue are known: undefined when they are not. */
  #prepareNow(request: JobRequest): Entry | undefined {
    if (this.#isLarge(request) || !this.#catalog.isFresh) return undefined;
    const { tenant, definitionKey } = request;
    const published = this.#catalog.find(request);
    const version = queueVersion(request, published);
    const place = this.#placeOf(request);
    const queue = this.#queues.known(tenant, definitionKey, version, place.shard);
    return queue && this.#entry(request, published, queue, place);
  }

  #placeOf(request: JobRequest): Placement {
    const { shards } = this.#db;
    if (shards === 1) return ONLY_PLACE;
    return placeOf(request, this.#catalog.spreads, this.#clock.now().getTime(), shards);
  }

  #home({ tenant, definitionKey }: JobRequest): Placement {
    const shard = homeShard(tenant, definitionKey, this.#db.shards);
    return { shard, keyShard: shard, uniqueShard: shard };
  }

  #entry(
    request: JobRequest,
    published: PublishedDefaults | null,
    queue: Queue,
    { keyShard, uniqueShard }: Placement,
  ): Entry {
    const { tenant, requestId, idempotencyKey } = request;
    const named = requestId !== null && idempotencyKey === null;
    const id = named
      ? jobIdOfRequest(requestId, request, queue.shard)
      : this.#ids.next(queue.shard);
    const job = newJob(id, request, published);
    const entry: Entry = { job, queue, keyShard };
    if (uniqueShard !== queue.shard) entry.uniqueShard = uniqueShard;
    // Large params are sealed where they are stored.
    if (this.#isLarge(request)) return entry;
    const sealedParams = this.#db.vault.seal(tenant, job.paramsJson);
    if (sealedParams) entry.sealedParams = sealedParams;
    return entry;
  }
}

/**
 * A value in the storage belongs to the id of its job, which must not change any more: so the request id
 * is an idempotency key from the start, as it is for all jobs that are not plain.
 */
function withKey(request: JobRequest): JobRequest {
  const { requestId, idempotencyKey } = request;
  return { ...request, requestId: null, idempotencyKey: idempotencyKey ?? requestId };
}

function shapeOf(published: PublishedDefaults | null): number {
  return published?.paramsShape ?? FIRST_SHAPE;
}
