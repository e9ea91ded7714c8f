import type { BatchHandle, BatchOptions } from './batches/batches.ts';
import type { EnqueueWarning } from '../core/definition/enqueue-warning.ts';
import { isTerminal, type JobState } from '../core/job/job.ts';
import { type OptionNames, refuseUnknownOptions } from './http/known-options.ts';
import { JobFailed, ProblemError, ServerUnreachable, WaitTimeout } from './http/errors.ts';
import type {
  BatchEntries,
  DefinitionRef,
  EnqueueArguments,
  EnqueueOptions,
  Job,
  JobReceipt,
  ResultOf,
  CancelOptions,
  RetryOptions,
  SignalReceipt,
} from './job.ts';
import { OUTAGE_MAX_MS, PASSING_STATUSES, pause } from './http/retry.ts';
import type { StreamChunk, StreamOptions } from './http/stream-chunks.ts';
import type { JobAttempt, JobEvent, JobLog, ReadLogOptions, ReadOptions } from './history.ts';

export interface WaitOptions {
  /** By default there is no limit. */
  timeoutMs?: number | undefined;
  /** The longest pause between two polls; the first ones are shorter. */
  pollMs?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Called with the job at every poll. */
  onPoll?: ((job: Job) => void) | undefined;
}

/** The part of the client that a handle needs. */
export interface JobAccess {
  get(jobId: string, options?: { signal?: AbortSignal | undefined }): Promise<Job>;
  /** Params or result in full, also if they are large. */
  value(
    jobId: string,
    kind: 'params' | 'result',
    options?: { signal?: AbortSignal | undefined },
  ): Promise<unknown>;
  cancel(jobId: string, options?: CancelOptions): Promise<JobReceipt>;
  retry(jobId: string, options?: RetryOptions): Promise<JobReceipt>;
  signal(jobId: string, name: string, payload?: unknown): Promise<SignalReceipt>;
  delete(jobId: string): Promise<void>;
  attempts(jobId: string): Promise<JobAttempt[]>;
  events(jobId: string, options?: ReadOptions): AsyncIterable<JobEvent>;
  logs(jobId: string, options?: ReadLogOptions): AsyncIterable<JobLog>;
  stream(jobId: string, options?: StreamOptions): AsyncIterable<StreamChunk>;
}

const WAIT_OPTIONS: OptionNames<WaitOptions> = {
  timeoutMs: true,
  pollMs: true,
  signal: true,
  onPoll: true,
};
const FIRST_PAUSE_MS = 25;
const PAUSE_GROWTH = 1.5;

/** One job: read it, wait for it, follow it or change it. */
export class JobHandle<Result = unknown> {
  readonly id: string;
  /** The state in the server's response to the enqueue. */
  readonly status: JobState | null;
  /** Warnings of the server, such as UNREGISTERED: no worker has registered the definition. */
  readonly warnings: readonly EnqueueWarning[];
  readonly #access: JobAccess;

  constructor(
    access: JobAccess,
    id: string,
    status: JobState | null,
    warnings: readonly EnqueueWarning[] = [],
  ) {
    this.#access = access;
    this.id = id;
    this.status = status;
    this.warnings = warnings;
  }

  async get(): Promise<Job<Result>> {
    return (await this.#access.get(this.id)) as Job<Result>;
  }

  async cancel(options: CancelOptions = {}): Promise<JobReceipt> {
    return await this.#access.cancel(this.id, options);
  }

  /** Runs the job again after it failed or was cancelled. */
  async retry(options: RetryOptions = {}): Promise<JobReceipt> {
    return await this.#access.retry(this.id, options);
  }

  /** Sends a signal, for which the job waits with `ctx.waitFor`, or will wait. */
  async signal(name: string, payload: unknown = null): Promise<SignalReceipt> {
    return await this.#access.signal(this.id, name, payload);
  }

  /** Deletes the job, which must have ended. */
  async delete(): Promise<void> {
    await this.#access.delete(this.id);
  }

  async attempts(): Promise<JobAttempt[]> {
    return await this.#access.attempts(this.id);
  }

  /** The events so far, the oldest first; with `follow`, until the job has ended. */
  events(options: ReadOptions = {}): AsyncIterable<JobEvent> {
    return this.#access.events(this.id, options);
  }

  /** The log lines so far, the oldest first; with `follow`, until the job has ended. */
  logs(options: ReadLogOptions = {}): AsyncIterable<JobLog> {
    return this.#access.logs(this.id, options);
  }

  /** The live output of the job (`ctx.stream`) until it has ended. */
  stream(options: StreamOptions = {}): AsyncIterable<StreamChunk> {
    return this.#access.stream(this.id, options);
  }

  /** Resolves with the job when it has ended, in any state; throws `WaitTimeout` before that. */
  async wait(options: WaitOptions = {}): Promise<Job<Result>> {
    refuseUnknownOptions('wait', options, WAIT_OPTIONS);
    const { timeoutMs, pollMs = 1_000 } = options;
    const limit = timeoutMs === undefined ? undefined : limitOf(timeoutMs);
    const signals = [limit, options.signal].filter((signal) => signal !== undefined);
    const signal = signals.length === 0 ? undefined : AbortSignal.any(signals);
    let seen: Job | null = null;
    let seenAtMs = performance.now();
    try {
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= PAUSE_GROWTH) {
        const job = await this.#look(signal, performance.now() - seenAtMs);
        if (job !== null) {
          seen = job;
          seenAtMs = performance.now();
          options.onPoll?.(job);
          if (isTerminal(job.status)) return job as Job<Result>;
        }
        await pause(Math.min(pauseMs, pollMs), signal);
      }
    } catch (error) {
      if (timeoutMs === undefined || !limit?.aborted || options.signal?.aborted) throw error;
      throw new WaitTimeout(`job ${this.id}`, timeoutMs, seen);
    }
  }

  /** Resolves with the result of the job; throws `JobFailed` when it failed or was cancelled. */
  async result(options: WaitOptions = {}): Promise<Result> {
    refuseUnknownOptions('result', options, WAIT_OPTIONS);
    const job = await this.wait(options);
    if (job.status !== 'succeeded') throw new JobFailed(job);
    if (!job.largeResult) return job.result as Result;
    return (await this.#access.value(this.id, 'result', options)) as Result;
  }

  /** The params in full; those of `get()` are null if they are large. */
  async params(): Promise<unknown> {
    return await this.#access.value(this.id, 'params');
  }

  /** Null while the server has been unreachable for less than the time to give up. */
  async #look(signal: AbortSignal | undefined, unseenMs: number): Promise<Job | null> {
    try {
      return await this.#access.get(this.id, { signal });
    } catch (error) {
      const away =
        error instanceof ServerUnreachable ||
        (error instanceof ProblemError && PASSING_STATUSES.includes(error.status));
      if (!away || unseenMs > OUTAGE_MAX_MS) throw error;
      return null;
    }
  }
}

/** A handle for each entry, with the type of its own result. */
export type JobHandles<All extends readonly unknown[]> = {
  -readonly [Index in keyof All]: JobHandle<ResultOf<All[Index]>>;
};

/**
 * What the routes of an application need: the client over HTTP, Longshore inside an application, and
 * the rig of a test have it. Code that accepts it can be given any of them.
 */
export interface JobStarter {
  enqueue(key: string, params?: unknown, options?: EnqueueOptions): Promise<JobHandle>;
  enqueue<Input, Result>(
    definition: DefinitionRef<Input, Result>,
    ...args: EnqueueArguments<NoInfer<Input>>
  ): Promise<JobHandle<Result>>;
  enqueueMany<const All extends readonly (DefinitionRef | string)[]>(
    entries: BatchEntries<All>,
  ): Promise<JobHandles<All>>;
  batch<
    const All extends readonly (DefinitionRef | string)[],
    OnComplete extends DefinitionRef | string,
    OnSuccess extends DefinitionRef | string,
  >(
    entries?: BatchEntries<All>,
    options?: BatchOptions<OnComplete, OnSuccess>,
  ): Promise<BatchHandle>;
  handle<Result = unknown>(jobId: string): JobHandle<Result>;
  get(jobId: string): Promise<Job>;
  signal(jobId: string, name: string, payload?: unknown): Promise<SignalReceipt>;
}

/** Timers have 31 bits; a longer one would fire at once. */
export function limitOf(timeoutMs: number): AbortSignal {
  return AbortSignal.timeout(Math.min(Math.max(0, Math.ceil(timeoutMs)), 2_147_483_647));
}
