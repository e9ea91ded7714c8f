import type { Isolation, RetryInput } from '../core/definition.ts';
import type { JobState, JobView, RetryPolicy } from '../core/job.ts';
import type { RetryMode } from '../core/retry.ts';
import type { HookName } from '../core/story.ts';

/** A job as the server shows it, with the result's type that its definition gave. */
export type Job<Result = unknown> = Omit<JobView, 'result'> & { result: Result | null };

/**
 * What is needed of a definition to start its jobs. What `defineJob` returns fits, and so does a
 * plain `{ key }`. Import it as a type only, and the code of the job stays out of your bundle.
 */
export interface DefinitionRef<Input = unknown, Result = unknown> {
  readonly key: string;
  readonly version?: number | undefined;
  readonly types?: { input: Input; result: Result } | undefined;
}

export interface EnqueueOptions {
  definitionVersion?: number | undefined;
  /** A whole number; higher runs first, 0 is usual. */
  priority?: number | undefined;
  maxAttempts?: number | undefined;
  /** Two requests with the same key make one job. Without it, a random one guards retries. */
  idempotencyKey?: string | undefined;
  runAt?: Date | string | undefined;
  delayMs?: number | undefined;
  /** Stored, but not eligible before `release`. */
  hold?: boolean | undefined;
  timeoutSeconds?: number | undefined;
  retry?: RetryInput | undefined;
  tags?: readonly string[] | undefined;
}

/** One job of `enqueueMany`. */
export interface BatchEntry<Input = unknown, Result = unknown> {
  definition: DefinitionRef<Input, Result> | string;
  params?: NoInfer<Input> | undefined;
  options?: EnqueueOptions | undefined;
}

/** The answer to what changes a job. */
export interface JobReceipt {
  jobId: string;
  status: JobState;
}

/** How to retry a job. */
export interface RetryOptions {
  /** `now` is usual; `later` waits; `reset` starts over, without attempts, steps and checkpoint. */
  mode?: RetryMode | undefined;
  /** With `later`; without it the job waits for its backoff. */
  runAt?: Date | string | undefined;
  /** Other params than before. */
  params?: unknown;
}

export interface ListFilter {
  status?: JobState | readonly JobState[] | undefined;
  definitionKey?: string | undefined;
  tag?: string | undefined;
  /** Of the latest failure. */
  errorCode?: string | undefined;
  createdAfter?: Date | string | undefined;
  createdBefore?: Date | string | undefined;
  runAfter?: Date | string | undefined;
  runBefore?: Date | string | undefined;
  /** A text in the message of the latest failure, or in the params. */
  q?: string | undefined;
  /** Newest first is usual. `runAt` goes with scheduled and retrying, `-priority` with queued. */
  sort?: '-createdAt' | 'createdAt' | 'runAt' | '-priority' | undefined;
  cursor?: string | undefined;
  limit?: number | undefined;
}

export interface JobPage {
  jobs: Job[];
  nextCursor: string | null;
}

/** A definition that some worker has published. */
export interface PublishedDefinition {
  key: string;
  version: number;
  owner: string | null;
  maxAttempts: number;
  timeoutSeconds: number;
  retry: RetryPolicy;
  retryOn: string[] | null;
  cancelGraceMs: number | null;
  maxInterruptions: number;
  isolation: Isolation;
  /** For its process with all its children; null is no limit. */
  memoryMb: number | null;
  hooks: HookName[];
  /** The program and its arguments, when it is one; null when it is code. */
  command: string[] | null;
  /** The schedules that its code asks for. */
  schedules: { name: string; cron: string; timezone: string }[];
  /** The JSON Schema of its params, when it has one. */
  paramsSchema: unknown;
  publishedAt: string;
}
