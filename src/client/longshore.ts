import type { OutcomesView as JobOutcomes } from '../core/dependency/outcomes.ts';
import type { RelatedJobs } from '../core/dependency/related.ts';
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
  CancelOptions,
  RetryOptions,
  NewSignalLink,
  SignalLinkInfo,
  SignalReceipt,
} from './job.ts';
import { isJobId } from '../core/job/job-id.ts';
import type { SignalLinkOptions } from '../core/signal/signal-link.ts';
import { Alerts } from './alerts.ts';
import type { StreamView } from '../core/views/history.ts';
import type { SettingsView } from '../core/views/setting-view.ts';
import type { BatchHandle, BatchOptions } from './batches/batches.ts';
import { Batches } from './batches/http-batches.ts';
import { Bulks } from './bulk.ts';
import { type Change, type ChangesOptions, followChanges } from './changes.ts';
import { DeadLetters } from './dead-letters.ts';
import { Deployments } from './deployments.ts';
import { Enqueues } from './enqueues.ts';
import { Flow } from './limits.ts';
import { type JobHandles, JobHandle, type JobStarter } from './handle.ts';
import { follow } from './http/follow.ts';
import { notFound } from './http/problems.ts';
import { queryOf, revealed } from './http/query.ts';
import { readDefinitionLogs, readHistory } from './history.ts';
import type {
  DefinitionLog,
  DefinitionLogOptions,
  JobAttempt,
  JobEvent,
  JobLog,
  JobSteps,
  ReadLogOptions,
  ReadOptions,
} from './history.ts';
import { chunksOf, type StreamChunk, type StreamOptions } from './http/stream-chunks.ts';
import { Schedules } from './schedules.ts';
import type { SearchValues } from '../core/search/complete.ts';
import { exportJobs, type ExportOptions } from './search/export-jobs.ts';
import { Views } from './search/views.ts';
import type { ExportFormat } from '../core/search/job-export.ts';
import type { Scale, ScaleOptions, Shards } from './scale.ts';
import type { Series, SeriesOptions, Stats, StatsOptions } from './stats.ts';
import { Budgets, type Usage, type UsageOptions } from './usage/usage.ts';
import { type AuditFilter, type AuditPage, type CallerInfo, type Tenant } from './access.ts';
import { Keys, readAudit, Secrets, Sessions, Tenants } from './access.ts';
import { type Call, Transport, type TransportOptions } from './http/transport.ts';
import { Webhooks } from './webhooks/webhooks.ts';
import { type DrainReceipt, type WorkerInfo, workerPath } from './worker.ts';

export type LongshoreOptions = TransportOptions;

export interface GetOptions {
  signal?: AbortSignal | undefined;
  reveal?: boolean | undefined;
}

/** The client. It uses only the public HTTP API, so it needs neither a database nor Node. */
export class Longshore implements JobStarter {
  readonly schedules: Schedules;
  readonly webhooks: Webhooks;
  readonly alerts: Alerts;
  readonly budgets: Budgets;
  readonly keys: Keys;
  readonly sessions: Sessions;
  readonly tenants: Tenants;
  readonly secrets: Secrets;
  readonly flow: Flow;
  readonly deadLetters: DeadLetters;
  readonly bulk: Bulks;
  readonly batches: Batches;
  readonly views: Views;
  readonly deployments: Deployments;
  readonly #transport: Transport;
  readonly #enqueues: Enqueues;

  constructor(options: LongshoreOptions) {
    this.#transport = new Transport(options);
    this.#enqueues = new Enqueues(this.#transport);
    this.schedules = new Schedules(this.#transport);
    this.webhooks = new Webhooks(this.#transport);
    this.alerts = new Alerts(this.#transport);
    this.budgets = new Budgets(this.#transport);
    this.keys = new Keys(this.#transport);
    this.sessions = new Sessions(this.#transport);
    this.tenants = new Tenants(this.#transport);
    this.secrets = new Secrets(this.#transport);
    this.flow = new Flow(this.#transport);
    this.deadLetters = new DeadLetters(this.#transport);
    this.batches = new Batches(this.#transport);
    this.bulk = new Bulks(this.#transport);
    this.views = new Views(this.#transport);
    this.deployments = new Deployments(this.#transport);
  }

  /**
   * Enqueues a job. It always has an idempotency key or a request id, so it can be sent again after
   * a broken connection without creating a second job. Concurrent calls share requests.
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
    return this.#handleOf(await this.#enqueues.one({ definition, params, options }));
  }

  /** Enqueues many jobs in one transaction: all are stored or none. */
  async enqueueMany<const All extends readonly (DefinitionRef | string)[]>(
    entries: BatchEntries<All>,
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): Promise<JobHandles<All>> {
    const receipts = await this.#enqueues.many(entries, signal);
    return receipts.map((receipt) => this.#handleOf(receipt)) as JobHandles<All>;
  }

  /** Makes a batch: jobs that end together, with jobs that run after the last of them. */
  async batch<
    const All extends readonly (DefinitionRef | string)[],
    OnComplete extends DefinitionRef | string,
    OnSuccess extends DefinitionRef | string,
  >(
    entries?: BatchEntries<All>,
    options?: BatchOptions<OnComplete, OnSuccess>,
  ): Promise<BatchHandle> {
    return await this.batches.create((entries ?? []) as readonly BatchEntry[], options);
  }

  /** A handle for a known job id. Sends no request. */
  handle<Result = unknown>(jobId: string): JobHandle<Result> {
    return new JobHandle<Result>(this, jobId, null);
  }

  /** With `reveal`, also values that are otherwise `[redacted]`; the key needs jobs:reveal. */
  async get(jobId: string, options: GetOptions = {}): Promise<Job> {
    return await this.#get<Job>(jobPath(jobId), revealed(options));
  }

  /**
   * The params or the result of a job in full, also if they are large: then those of `get` are null, and
   * `largeParams` or `largeResult` has their size.
   */
  async value(
    jobId: string,
    kind: 'params' | 'result',
    options: GetOptions = {},
  ): Promise<unknown> {
    return await this.#get<unknown>(`${jobPath(jobId)}/${kind}`, revealed(options));
  }

  /** One page. `listAll` reads all pages. */
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

  /**
   * All matching jobs as the text of a file, in parts. An export of 100,000 jobs may have more:
   * continue with the id of the last one as `after`.
   */
  async *export(
    format: ExportFormat,
    options: ExportOptions = {},
  ): AsyncGenerator<string, void, undefined> {
    yield* exportJobs(this.#transport, format, options);
  }

  async attempts(jobId: string): Promise<JobAttempt[]> {
    const path = `${jobPath(jobId)}/attempts`;
    return (await this.#get<{ attempts: JobAttempt[] }>(path, {})).attempts;
  }

  /** The jobs that it waits for or has waited for, and those that were enqueued after it. */
  async related(jobId: string, { signal }: Pick<GetOptions, 'signal'> = {}): Promise<RelatedJobs> {
    return await this.#get<RelatedJobs>(`${jobPath(jobId)}/related`, { signal });
  }

  /** What `ctx.parents` and `ctx.waitForChildren()` of an attempt give. `reveal` as in `get`. */
  async outcomes(jobId: string, options: GetOptions = {}): Promise<JobOutcomes> {
    return await this.#get<JobOutcomes>(`${jobPath(jobId)}/outcomes`, revealed(options));
  }

  /** What its steps and checkpoints have stored. `reveal` as in `get`. */
  async steps(jobId: string, options: GetOptions = {}): Promise<JobSteps> {
    return await this.#get<JobSteps>(`${jobPath(jobId)}/steps`, revealed(options));
  }

  /** The events of a job so far, the oldest first; with `follow`, until it has ended. */
  async *events(
    jobId: string,
    options: ReadOptions = {},
  ): AsyncGenerator<JobEvent, void, undefined> {
    yield* readHistory<JobEvent>(this.#transport, `${jobPath(jobId)}/events`, 'events', options);
  }

  /** The log lines of a job so far, the oldest first; with `follow`, until it has ended. */
  async *logs(
    jobId: string,
    options: ReadLogOptions = {},
  ): AsyncGenerator<JobLog, void, undefined> {
    yield* readHistory<JobLog>(this.#transport, `${jobPath(jobId)}/logs`, 'logs', options);
  }

  /**
   * The live output of a job (`ctx.stream`) until it has ended. It reconnects by itself, without
   * gaps and repetitions. When the job starts again, a chunk says so (`startsOver`).
   */
  async *stream(
    jobId: string,
    { cursor, signal }: StreamOptions = {},
  ): AsyncGenerator<StreamChunk, void, undefined> {
    const path = `${jobPath(jobId)}/stream`;
    const entries = follow<StreamView>(this.#transport, path, queryOf({}), cursor, signal);
    yield* chunksOf(entries, cursor);
  }

  /** The newest log lines of all jobs of a definition; with `follow`, also new ones, without end. */
  async *definitionLogs(
    definition: DefinitionRef | string,
    options: DefinitionLogOptions = {},
  ): AsyncGenerator<DefinitionLog, void, undefined> {
    const key = typeof definition === 'string' ? definition : definition.key;
    yield* readDefinitionLogs(this.#transport, key, options);
  }

  async cancel(jobId: string, { children }: CancelOptions = {}): Promise<JobReceipt> {
    const body = children === undefined ? {} : { body: { children } };
    return await this.#post<JobReceipt>(`${jobPath(jobId)}/cancel`, { repeatable: false, ...body });
  }

  async release(jobId: string): Promise<JobReceipt> {
    return await this.#post<JobReceipt>(`${jobPath(jobId)}/release`, { repeatable: false });
  }

  /** Not repeated after a broken connection: the second request could retry a later failure. */
  async retry(jobId: string, options: RetryOptions = {}): Promise<JobReceipt> {
    const path = `${jobPath(jobId)}/retry`;
    return await this.#post<JobReceipt>(path, { body: options, repeatable: false });
  }

  /**
   * Sends a signal to a job, which waits for it with `ctx.waitFor`, or will wait. May be repeated:
   * a signal is stored once.
   */
  async signal(jobId: string, name: string, payload: unknown = null): Promise<SignalReceipt> {
    const path = `${jobPath(jobId)}/signals/${encodeURIComponent(name)}`;
    return await this.#post<SignalReceipt>(path, { body: { payload }, repeatable: true });
  }

  /**
   * Makes a link with which a person without an account sends this signal once. Not repeated after a
   * broken connection, because each request makes another link.
   */
  async signalLink(
    jobId: string,
    name: string,
    options: SignalLinkOptions = {},
  ): Promise<NewSignalLink> {
    const path = linksPath(jobId, name);
    return await this.#post<NewSignalLink>(path, { body: options, repeatable: false });
  }

  /** The links of a job for a signal, without their secrets. */
  async signalLinks(jobId: string, name: string): Promise<SignalLinkInfo[]> {
    return (await this.#get<{ links: SignalLinkInfo[] }>(linksPath(jobId, name), {})).links;
  }

  async revokeSignalLink(jobId: string, name: string, linkId: string): Promise<void> {
    const path = `${linksPath(jobId, name)}/${encodeURIComponent(linkId)}`;
    await this.#transport.call({ method: 'DELETE', path, repeatable: true });
  }

  /** Deletes an ended job with its history. */
  async delete(jobId: string): Promise<void> {
    const path = jobPath(jobId);
    await this.#transport.call({ method: 'DELETE', path, repeatable: false });
  }

  /** The definitions and owners that have jobs, and codes and tags of recent jobs. */
  async searchValues(): Promise<SearchValues> {
    return await this.#get('/v1/search-values', {});
  }

  async definitions(): Promise<PublishedDefinition[]> {
    const path = '/v1/definitions';
    return (await this.#get<{ definitions: PublishedDefinition[] }>(path, {})).definitions;
  }

  /** Numbers of jobs, waiting and running times, and results, by definition and by minute. */
  async stats(options: StatsOptions = {}): Promise<Stats> {
    return await this.#get<Stats>('/v1/stats', { query: queryOf(options) });
  }

  /** Throughput, queue depth and percentiles of times over time, of one definition or of all. */
  async series(options: SeriesOptions = {}): Promise<Series> {
    return await this.#get<Series>('/v1/series', { query: queryOf(options) });
  }

  /** What jobs used, by day, tenant and definition. */
  async usage(options: UsageOptions = {}): Promise<Usage> {
    return await this.#get<Usage>('/v1/usage', { query: queryOf(options) });
  }

  /** The load of each definition, and how many slots it needs: for an autoscaler. */
  async scale(options: ScaleOptions = {}): Promise<Scale> {
    return await this.#get<Scale>('/v1/scale', { query: queryOf(options) });
  }

  /** Where each shard lives, and its load; for keys of the default tenant with the scope operate. */
  async shards(): Promise<Shards> {
    return await this.#get<Shards>('/v1/shards', {});
  }

  /** The topics that changed, live; ends only by the signal or a refusal. */
  async *changes(options: ChangesOptions = {}): AsyncGenerator<Change, void, undefined> {
    yield* followChanges(this.#transport, options);
  }

  /** Live workers, and those that died within the last day. */
  async workers(): Promise<WorkerInfo[]> {
    return (await this.#get<{ workers: WorkerInfo[] }>('/v1/workers', {})).workers;
  }

  /** Asks a worker to finish its jobs and exit. Can be repeated. */
  async drainWorker(workerId: string): Promise<DrainReceipt> {
    const path = `${workerPath(workerId)}/drain`;
    return await this.#post<DrainReceipt>(path, { repeatable: true });
  }

  /** The caller and its scopes, as the server sees them. */
  async caller(): Promise<CallerInfo> {
    return await this.#get<CallerInfo>('/v1/session', { ofKey: true });
  }

  /** The tenant that this client acts for: its limit, how much of it is in use, and its pause. */
  async tenant(): Promise<Tenant> {
    return await this.#get<Tenant>('/v1/tenant', {});
  }

  /** The configuration of the server process. Needs an admin key of the default tenant. */
  async settings(): Promise<SettingsView> {
    return await this.#get<SettingsView>('/v1/settings', {});
  }

  /** Manual changes, one page, the newest first. Needs an admin key. */
  async audit(filter: AuditFilter = {}): Promise<AuditPage> {
    return await readAudit(this.#transport, filter);
  }

  #handleOf({ jobId, status, warnings }: JobReceipt): JobHandle {
    return new JobHandle(this, jobId, status, warnings);
  }

  async #get<T>(
    path: string,
    what: { query?: URLSearchParams; ofKey?: boolean; signal?: AbortSignal | undefined },
  ): Promise<T> {
    return await this.#transport.call<T>({ method: 'GET', path, repeatable: true, ...what });
  }

  async #post<T>(path: string, what: Pick<Call, 'body' | 'repeatable' | 'signal'>): Promise<T> {
    return await this.#transport.call<T>({ method: 'POST', path, ...what });
  }
}

function linksPath(jobId: string, name: string): string {
  return `${jobPath(jobId)}/signals/${encodeURIComponent(name)}/links`;
}

/** An invalid id (`..`, an empty text) could change the path, so no request is sent. */
function jobPath(jobId: string): string {
  if (!isJobId(jobId)) throw notFound('job', jobId);
  return `/v1/jobs/${jobId}`;
}
