import type { EnqueueWarning } from '../core/definition/enqueue-warning.ts';
import { isTerminal, type JobState } from '../core/job/job.ts';
import { JobFailed, ProblemError, ServerUnreachable, WaitTimeout } from './http/errors.ts';
import type {
  BatchEntries,
  DefinitionRef,
  EnqueueArguments,
  EnqueueOptions,
  Job,
  JobReceipt,
  ResultOf,
  RetryOptions,
} from './job.ts';
import { OUTAGE_MAX_MS, PASSING_STATUSES, pause } from './http/retry.ts';
import type { JobAttempt, JobEvent, JobLog, ReadLogOptions, ReadOptions } from './history.ts';

export interface WaitOptions {
  /** Without it, waiting has no end of its own. */
  timeoutMs?: number | undefined;
  /** The longest pause between two looks; the first ones are shorter. */
  pollMs?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Called with the job as it is, at every look. */
  onLook?: ((job: Job) => void) | undefined;
}

/** What a handle needs of the client. */
export interface JobAccess {
  get(jobId: string, options?: { signal?: AbortSignal | undefined }): Promise<Job>;
  cancel(jobId: string): Promise<JobReceipt>;
  retry(jobId: string, options?: RetryOptions): Promise<JobReceipt>;
  delete(jobId: string): Promise<void>;
  attempts(jobId: string): Promise<JobAttempt[]>;
  events(jobId: string, options?: ReadOptions): AsyncIterable<JobEvent>;
  logs(jobId: string, options?: ReadLogOptions): AsyncIterable<JobLog>;
}

const FIRST_PAUSE_MS = 25;
const PAUSE_GROWTH = 1.5;

/** One job, to be looked at, waited for, followed or changed. */
export class JobHandle<Result = unknown> {
  readonly id: string;
  /** How the job was when the server acknowledged it. */
  readonly status: JobState | null;
  /** What the server said of it then, such as UNREGISTERED: no worker has registered its definition. */
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

  async cancel(): Promise<JobReceipt> {
    return await this.#access.cancel(this.id);
  }

  /** Lets it run again after it failed or was cancelled. */
  async retry(options: RetryOptions = {}): Promise<JobReceipt> {
    return await this.#access.retry(this.id, options);
  }

  /** Deletes it, once it has ended. */
  async delete(): Promise<void> {
    await this.#access.delete(this.id);
  }

  async attempts(): Promise<JobAttempt[]> {
    return await this.#access.attempts(this.id);
  }

  /** What happened to it so far, the oldest first; with `follow`, until it has ended. */
  events(options: ReadOptions = {}): AsyncIterable<JobEvent> {
    return this.#access.events(this.id, options);
  }

  /** What it wrote so far, the oldest line first; with `follow`, until it has ended. */
  logs(options: ReadLogOptions = {}): AsyncIterable<JobLog> {
    return this.#access.logs(this.id, options);
  }

  /** Resolves with the job once it has ended, however it did; throws `WaitTimeout` before that. */
  async wait(options: WaitOptions = {}): Promise<Job<Result>> {
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
          options.onLook?.(job);
          if (isTerminal(job.status)) return job as Job<Result>;
        }
        await pause(Math.min(pauseMs, pollMs), signal);
      }
    } catch (error) {
      if (timeoutMs === undefined || !limit?.aborted || options.signal?.aborted) throw error;
      throw new WaitTimeout(this.id, timeoutMs, seen);
    }
  }

  /** Resolves with what the job returned; throws `JobFailed` when it failed or was cancelled. */
  async result(options: WaitOptions = {}): Promise<Result> {
    const job = await this.wait(options);
    if (job.status !== 'succeeded') throw new JobFailed(job);
    return job.result as Result;
  }

  /** Null when the server is away, but not yet for so long that it is a reason to give up. */
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
 * What can start jobs: the client over HTTP and Longshore inside an application both can. Code that
 * asks for no more than this need not know which of them it was given.
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
  handle<Result = unknown>(jobId: string): JobHandle<Result>;
}

/** Timers count in 31 bits; a longer one would fire at once. */
function limitOf(timeoutMs: number): AbortSignal {
  return AbortSignal.timeout(Math.min(Math.max(0, Math.ceil(timeoutMs)), 2_147_483_647));
}
