import type {
  BatchEntries,
  BatchEntry,
  DefinitionRef,
  EnqueueArguments,
  EnqueueOptions,
  Job,
  JobPage,
  JobReceipt,
  ListFilter,
  PublishedDefinition,
  RetryOptions,
} from './job.ts';
import { isJobId } from '../core/job/job-id.ts';
import { Alerts } from './alerts.ts';
import type { SettingsView } from '../core/views/setting-view.ts';
import { Bulks } from './bulk.ts';
import { type Change, type ChangesOptions, followChanges } from './changes.ts';
import { DeadLetters } from './dead-letters.ts';
import { Flow } from './limits.ts';
import { type JobHandles, JobHandle, type JobStarter } from './handle.ts';
import { NotFound } from './http/problems.ts';
import { queryOf } from './http/query.ts';
import { requestBody } from './http/request-body.ts';
import { readHistory } from './history.ts';
import type { JobAttempt, JobEvent, JobLog, ReadLogOptions, ReadOptions } from './history.ts';
import { Schedules } from './schedules.ts';
import type { Stats, StatsOptions } from './stats.ts';
import { type AuditFilter, type AuditPage, Keys, readAudit, Tenants } from './access.ts';
import { type Call, Transport, type TransportOptions } from './http/transport.ts';
import { Webhooks } from './webhooks.ts';
import { type DrainReceipt, type WorkerInfo, workerPath } from './worker.ts';

export type LongshoreOptions = TransportOptions;

export interface GetOptions {
  signal?: AbortSignal | undefined;
  reveal?: boolean | undefined;
}

/** The client: everything goes through the public HTTP API, so it needs no database and no Node. */
export class Longshore implements JobStarter {
  readonly schedules: Schedules;
  readonly webhooks: Webhooks;
  readonly alerts: Alerts;
  readonly keys: Keys;
  readonly tenants: Tenants;
  readonly flow: Flow;
  readonly deadLetters: DeadLetters;
  readonly bulk: Bulks;
  readonly #transport: Transport;

  constructor(options: LongshoreOptions) {
    this.#transport = new Transport(options);
    this.schedules = new Schedules(this.#transport);
    this.webhooks = new Webhooks(this.#transport);
    this.alerts = new Alerts(this.#transport);
    this.keys = new Keys(this.#transport);
    this.tenants = new Tenants(this.#transport);
    this.flow = new Flow(this.#transport);
    this.deadLetters = new DeadLetters(this.#transport);
    this.bulk = new Bulks(this.#transport);
  }

  /**
   * Starts a job. The request always carries an idempotency key, so that it can be sent again after
   * a broken connection without ever making two jobs.
   */
  async enqueue(key: string, params?: unknown, options?: EnqueueOptions): Promise<JobHandle>;
  async enqueue<Input, Result>(
    definition: DefinitionRef<Input, Result>,
    ...args: EnqueueArguments<NoInfer<Input>>
  ): Promise<JobHandle<Result>>;
  async enqueue(
    definition: DefinitionRef | string,
    params?: unknown,
    options?: EnqueueOptions,
  ): Promise<JobHandle> {
    const body = keyedBody({ definition, params, options });
    const call = { body, repeatable: true, signal: options?.signal };
    return this.#handleOf(await this.#post<JobReceipt>('/v1/jobs', call));
  }

  /** Starts many jobs in one transaction: either all of them are stored or none. */
  async enqueueMany<const All extends readonly (DefinitionRef | string)[]>(
    entries: BatchEntries<All>,
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): Promise<JobHandles<All>> {
    const jobs = (entries as readonly BatchEntry[]).map(keyedBody);
    const call = { body: { jobs }, repeatable: true, signal };
    const answer = await this.#post<{ jobs: JobReceipt[] }>('/v1/jobs/batch', call);
    return answer.jobs.map((receipt) => this.#handleOf(receipt)) as JobHandles<All>;
  }

  /** A handle on a job whose id is known from elsewhere. Asks the server nothing. */
  handle<Result = unknown>(jobId: string): JobHandle<Result> {
    return new JobHandle<Result>(this, jobId, null);
  }

  /** With `reveal`, also what else reads `[redacted]`: the key needs jobs:reveal for it. */
  async get(jobId: string, { signal, reveal }: GetOptions = {}): Promise<Job> {
    const query = queryOf({ reveal: reveal === true ? true : undefined });
    return await this.#get<Job>(jobPath(jobId), { query, signal });
  }

  /** One page. `listAll` walks over all of them. */
  async list(filter: ListFilter = {}): Promise<JobPage> {
    return await this.#get<JobPage>('/v1/jobs', { query: queryOf(filter) });
  }

  async *listAll(filter: ListFilter = {}): AsyncGenerator<Job, void, undefined> {
    let cursor = filter.cursor;
    do {
      const page = await this.list({ ...filter, cursor });
      yield* page.jobs;
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }

  async attempts(jobId: string): Promise<JobAttempt[]> {
    const path = `${jobPath(jobId)}/attempts`;
    return (await this.#get<{ attempts: JobAttempt[] }>(path, {})).attempts;
  }

  /** What happened to a job so far, the oldest first; with `follow`, until it has ended. */
  async *events(
    jobId: string,
    options: ReadOptions = {},
  ): AsyncGenerator<JobEvent, void, undefined> {
    yield* readHistory<JobEvent>(this.#transport, `${jobPath(jobId)}/events`, 'events', options);
  }

  /** What a job wrote so far, the oldest line first; with `follow`, until it has ended. */
  async *logs(
    jobId: string,
    options: ReadLogOptions = {},
  ): AsyncGenerator<JobLog, void, undefined> {
    yield* readHistory<JobLog>(this.#transport, `${jobPath(jobId)}/logs`, 'logs', options);
  }

  async cancel(jobId: string): Promise<JobReceipt> {
    return await this.#post<JobReceipt>(`${jobPath(jobId)}/cancel`, { repeatable: false });
  }

  async release(jobId: string): Promise<JobReceipt> {
    return await this.#post<JobReceipt>(`${jobPath(jobId)}/release`, { repeatable: false });
  }

  /** Not sent again after a broken connection: a second one might retry its next failure. */
  async retry(jobId: string, options: RetryOptions = {}): Promise<JobReceipt> {
    const path = `${jobPath(jobId)}/retry`;
    return await this.#post<JobReceipt>(path, { body: options, repeatable: false });
  }

  /** Deletes a job that has ended, with all that is known of it. */
  async delete(jobId: string): Promise<void> {
    const path = jobPath(jobId);
    await this.#transport.call({ method: 'DELETE', path, repeatable: false });
  }

  async definitions(): Promise<PublishedDefinition[]> {
    const path = '/v1/definitions';
    return (await this.#get<{ definitions: PublishedDefinition[] }>(path, {})).definitions;
  }

  /** How many jobs there are, how long they wait and run, how they end: by definition and by minute. */
  async stats(options: StatsOptions = {}): Promise<Stats> {
    return await this.#get<Stats>('/v1/stats', { query: queryOf(options) });
  }

  /** That something has changed, by topics, as it happens; it ends only by the signal or a refusal. */
  async *changes(options: ChangesOptions = {}): AsyncGenerator<Change, void, undefined> {
    yield* followChanges(this.#transport, options);
  }

  /** All that are alive, and those that died within the last day. */
  async workers(): Promise<WorkerInfo[]> {
    return (await this.#get<{ workers: WorkerInfo[] }>('/v1/workers', {})).workers;
  }

  /** Asks a worker to finish what it runs and to leave. Asking again does no harm. */
  async drainWorker(workerId: string): Promise<DrainReceipt> {
    const path = `${workerPath(workerId)}/drain`;
    return await this.#post<DrainReceipt>(path, { repeatable: true });
  }

  /** How the process that answers is set up. Needs an admin key of the default tenant. */
  async settings(): Promise<SettingsView> {
    return await this.#get<SettingsView>('/v1/settings', {});
  }

  /** What was done by hand, the newest first: one page. Needs an admin key. */
  async audit(filter: AuditFilter = {}): Promise<AuditPage> {
    return await readAudit(this.#transport, filter);
  }

  #handleOf({ jobId, status, warnings }: JobReceipt): JobHandle {
    return new JobHandle(this, jobId, status, warnings);
  }

  async #get<T>(
    path: string,
    what: { query?: URLSearchParams; signal?: AbortSignal | undefined },
  ): Promise<T> {
    return await this.#transport.call<T>({ method: 'GET', path, repeatable: true, ...what });
  }

  async #post<T>(path: string, what: Pick<Call, 'body' | 'repeatable' | 'signal'>): Promise<T> {
    return await this.#transport.call<T>({ method: 'POST', path, ...what });
  }
}

/** Without a key of the caller's own, a random one guards against making two jobs of one. */
function keyedBody(entry: Parameters<typeof requestBody>[0]): Record<string, unknown> {
  return { idempotencyKey: crypto.randomUUID(), ...requestBody(entry) };
}

/** What is no id would be another path (`..`, an empty text), so it is not sent at all. */
function jobPath(jobId: string): string {
  if (!isJobId(jobId)) throw new NotFound(404, 'NOT_FOUND', `no job has the id "${jobId}"`);
  return `/v1/jobs/${jobId}`;
}
