import { type BatchHandle, BatchMaker, type BatchOptions } from '../client/batches/batches.ts';
import { problemError, Unavailable } from '../client/http/problems.ts';
import { type JobAccess, JobHandle, type JobHandles, type JobStarter } from '../client/handle.ts';
import type {
  BatchEntries,
  BatchEntry,
  CancelOptions,
  DefinitionRef,
  EnqueueArguments,
  EnqueueOptions,
  Job,
  JobReceipt,
  RetryOptions,
  SignalReceipt,
} from '../client/job.ts';
import { isJobId } from '../core/job/job-id.ts';
import type { LargeKind } from '../core/large/large-value.ts';
import type { LargeValues } from '../large/large-values.ts';
import { storedValues } from '../store/large/large-values.ts';
import type { JobRequest } from '../core/job/new-job.ts';
import { requestBody } from '../client/http/request-body.ts';
import { OUTAGE_MAX_MS } from '../client/http/retry.ts';
import type {
  JobAttempt,
  JobEvent,
  JobLog,
  ReadLogOptions,
  ReadOptions,
} from '../client/history.ts';
import { chunksOf, type StreamChunk, type StreamOptions } from '../client/http/stream-chunks.ts';
import { sendSignal } from '../enqueue/send-signal.ts';
import { refuseMisfit, start } from '../enqueue/start-jobs.ts';
import { DEFAULT_TENANT } from '../core/access/scope.ts';
import { parseBatch, parseJob } from '../protocol/requests/parse-job.ts';
import { parseSignal } from '../protocol/signal.ts';
import { parseRetry } from '../protocol/requests/retry-body.ts';
import { sleep } from '../runtime/deadline.ts';
import { cancelAlone, cancelFamily } from '../store/change/cancel-children.ts';
import { type ChangeResult, conflictOf, type JobChange } from '../core/job/change-result.ts';
import type { Db } from '../store/connection/db.ts';
import { deleteJob } from '../store/change/delete-jobs.ts';
import { getJob } from '../store/read/get-job.ts';
import type { Enqueuer } from '../enqueue/enqueuer.ts';
import { readAttempts } from '../store/read/read-attempts.ts';
import { readEvents } from '../store/read/read-events.ts';
import { readLogs } from '../store/read/read-logs.ts';
import { answerOf } from './local/answer.ts';
import { localBatches } from './local/batches.ts';
import { readStream } from '../store/read/read-stream.ts';
import { releaseJob } from '../store/change/release-job.ts';
import { retryJob } from '../store/change/retry-job.ts';

const TENANT = DEFAULT_TENANT;
const PAGE_SIZE = 1_000;
const POLL_MS = 100;

/**
 * The client without HTTP: the same requests, checks, store, handles and errors, in this process.
 * So an application can start with Longshore inside and move to a server later, or the other way
 * round.
 */
export class LocalJobs implements JobStarter, JobAccess {
  readonly batches: BatchMaker;
  readonly #db: Db;
  readonly #enqueuer: Enqueuer;
  readonly #large: LargeValues | null;
  readonly #pending = new Set<Promise<unknown>>();

  constructor(db: Db, enqueuer: Enqueuer, large: LargeValues | null = null) {
    this.#large = large;
    this.#db = db;
    this.#enqueuer = enqueuer;
    const calls = localBatches({ db, enqueuer }, TENANT, async (work) => await this.#storing(work));
    this.batches = new BatchMaker(calls);
  }

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
    const body = requestBody({ definition, params, options });
    const [handle] = await this.#start(
      () => [parseJob(body, TENANT, undefined, this.#enqueuer.paramsMaxBytes)],
      () => '',
    );
    if (!handle) throw new Error('the job was not stored');
    return handle;
  }

  /** All or none, in one transaction; results in order. */
  async enqueueMany<const All extends readonly (DefinitionRef | string)[]>(
    entries: BatchEntries<All>,
  ): Promise<JobHandles<All>> {
    const jobs = (entries as readonly BatchEntry[]).map(requestBody);
    const handles = await this.#start(
      () => parseBatch({ jobs }, TENANT, undefined, this.#enqueuer.paramsMaxBytes),
      (index) => `/jobs/${index}`,
    );
    return handles as JobHandles<All>;
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

  handle<Result = unknown>(jobId: string): JobHandle<Result> {
    return new JobHandle<Result>(this, jobId, null);
  }

  async get(jobId: string): Promise<Job> {
    return (await answerOf(getJob(this.#db, TENANT, jobId))) ?? missing(jobId);
  }

  async value(jobId: string, kind: LargeKind): Promise<unknown> {
    if (!isJobId(jobId)) return missing(jobId);
    const stored = (await answerOf(storedValues(this.#db, TENANT, jobId))) ?? missing(jobId);
    const json = stored[kind] ?? 'null';
    const opened = this.#large
      ? await answerOf(this.#large.open(TENANT, json))
      : this.#db.vault.open(TENANT, json);
    return JSON.parse(opened) as unknown;
  }

  async cancel(jobId: string, { children = false }: CancelOptions = {}): Promise<JobReceipt> {
    const cancel = children ? cancelFamily : cancelAlone;
    const result = await answerOf(cancel(this.#db, TENANT, jobId));
    return receipt(jobId, result, 'cancel');
  }

  async release(jobId: string): Promise<JobReceipt> {
    const result = await answerOf(releaseJob(this.#db, TENANT, jobId));
    return receipt(jobId, result, 'release');
  }

  async signal(jobId: string, name: string, payload: unknown = null): Promise<SignalReceipt> {
    const sent = async () =>
      await sendSignal(this.#db, TENANT, jobId, parseSignal(name, { payload }), null);
    return (await answerOf(sent())) ?? missing(jobId);
  }

  async retry(jobId: string, options: RetryOptions = {}): Promise<JobReceipt> {
    const result = await answerOf(this.#retry(jobId, options));
    return receipt(jobId, result, 'retry');
  }

  async delete(jobId: string): Promise<void> {
    const result = await answerOf(deleteJob(this.#db, TENANT, jobId));
    receipt(jobId, result, 'delete');
  }

  async attempts(jobId: string): Promise<JobAttempt[]> {
    return (await answerOf(readAttempts(this.#db, TENANT, jobId))) ?? missing(jobId);
  }

  events(jobId: string, options: ReadOptions = {}): AsyncGenerator<JobEvent, void, undefined> {
    return pages(options, async (afterId) => {
      const question = { afterId, limit: PAGE_SIZE };
      const page = await answerOf(readEvents(this.#db, TENANT, jobId, question));
      return page ? { ...page, entries: page.events } : missing(jobId);
    });
  }

  logs(jobId: string, options: ReadLogOptions = {}): AsyncGenerator<JobLog, void, undefined> {
    const { attempt = null } = options;
    return pages(options, async (afterId) => {
      const question = { afterId, attempt, limit: PAGE_SIZE };
      const page = await answerOf(readLogs(this.#db, TENANT, jobId, question));
      return page ? { ...page, entries: page.logs } : missing(jobId);
    });
  }

  stream(jobId: string, options: StreamOptions = {}): AsyncGenerator<StreamChunk, void, undefined> {
    const entries = pages({ ...options, follow: true }, async (afterId) => {
      const page = await answerOf(readStream(this.#db, TENANT, jobId, afterId));
      return page ?? missing(jobId);
    });
    return chunksOf(entries, options.cursor);
  }

  /** Resolves when all pending writes are done or refused. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#pending);
  }

  async #retry(jobId: string, options: RetryOptions): Promise<ChangeResult> {
    const request = parseRetry(options);
    const { paramsJson } = request;
    if (paramsJson !== null) {
      await refuseMisfit(this.#enqueuer, TENANT, { ...(await this.get(jobId)), paramsJson });
    }
    return await retryJob(this.#db, TENANT, jobId, request);
  }

  async #start(
    requests: () => readonly JobRequest[],
    pointerOf: (index: number) => string,
  ): Promise<JobHandle[]> {
    const stored = await this.#storing(
      (async () => await start(this.#enqueuer, requests(), pointerOf))(),
    );
    return stored.map(({ jobId, status }) => new JobHandle(this, jobId, status));
  }

  /** `settled` waits for it. */
  async #storing<T>(work: Promise<T>): Promise<T> {
    this.#pending.add(work);
    try {
      return await answerOf(work);
    } finally {
      this.#pending.delete(work);
    }
  }
}

interface Page<Entry> {
  entries: readonly Entry[];
  nextId: string | null;
  ended: boolean;
}

async function* pages<Entry extends { id: string }>(
  { follow = false, cursor, signal }: ReadOptions,
  read: (afterId: string | null) => Promise<Page<Entry>>,
): AsyncGenerator<Entry, void, undefined> {
  let afterId = cursor ?? null;
  let seenMs = performance.now();
  for (;;) {
    signal?.throwIfAborted();
    const page = await read(afterId).catch((error: unknown) => {
      // A short database outage does not end a wait for a job.
      const patient = follow && performance.now() - seenMs < OUTAGE_MAX_MS;
      if (patient && error instanceof Unavailable) return null;
      throw error;
    });
    if (page !== null) {
      seenMs = performance.now();
      yield* page.entries;
      afterId = page.entries.at(-1)?.id ?? afterId;
      if (page.nextId !== null) continue;
      if (!follow || page.ended) return;
    }
    await sleep(POLL_MS, signal);
  }
}

function receipt(jobId: string, result: ChangeResult, change: JobChange): JobReceipt {
  if (result.kind === 'missing') return missing(jobId);
  if (result.kind === 'changed') return { jobId, status: result.status };
  if (result.kind === 'forbidden') throw problemError(403, 'FORBIDDEN', result.why);
  throw problemError(409, 'CONFLICT', conflictOf(change, result));
}

function missing(jobId: string): never {
  throw problemError(404, 'NOT_FOUND', `job ${JSON.stringify(jobId.slice(0, 60))} not found`);
}
