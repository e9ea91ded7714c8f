import type { Isolation, RetryInput } from '../core/definition/definition.ts';
import type { EnqueueWarning } from '../core/definition/enqueue-warning.ts';
import type { DefinitionLimitsView, PauseView } from '../core/queue/limit-view.ts';
import type { JobState, JobView, RetryPolicy } from '../core/job/job.ts';
import type { RateLimit } from '../core/queue/limits.ts';
import type { RetryMode } from '../core/failure/retry.ts';
import type { HookName } from '../core/views/history.ts';
import type { UniqueWhile } from '../core/job/unique.ts';

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
  /** Jobs with the same key share the limits that the definition has for keys. */
  concurrencyKey?: string | undefined;
  runAt?: Date | string | undefined;
  delayMs?: number | undefined;
  /** Stored, but not eligible before `release`. */
  hold?: boolean | undefined;
  timeoutSeconds?: number | undefined;
  retry?: RetryInput | undefined;
  tags?: readonly string[] | undefined;
  /** Ends the request; whether the job was stored by then is not known. */
  signal?: AbortSignal | undefined;
  /** Make no second one of its kind while an earlier one waits, is active, or is young. */
  unique?: UniqueOption | undefined;
  /** A job that has not begun by then fails with EXPIRED. */
  expiresAt?: Date | string | undefined;
  /** The params are not held against the schema now; before the job runs they are, always. */
  skipValidation?: boolean | undefined;
}

/** What makes a job the same as an earlier one, for how long, and what then. */
export interface UniqueOption {
  /** The params, if left out. */
  key?: string | undefined;
  while: UniqueWhile;
  /** The earlier job is the answer, or it gets what this one asks for, if it has not begun. */
  onConflict?: 'existing' | 'replace' | undefined;
}

/** Params may be left out where the definition does not care for them. */
export type EnqueueArguments<Input> = undefined extends Input
  ? [params?: Input, options?: EnqueueOptions]
  : [params: Input, options?: EnqueueOptions];

type Definition = DefinitionRef | string;

/** What a caller passes to a definition, and what its jobs return. A bare key promises nothing. */
export type InputOf<Of> = Of extends DefinitionRef<infer Input> ? Input : unknown;
export type ResultOf<Of> = Of extends DefinitionRef<unknown, infer Result> ? Result : unknown;

/** One job of `enqueueMany`. */
export interface BatchEntry<Of extends Definition = Definition> {
  definition: Of;
  params?: NoInfer<InputOf<Of>> | undefined;
  options?: Omit<EnqueueOptions, 'signal'> | undefined;
}

/** The entries of `enqueueMany`, each held to its own definition. */
export type BatchEntries<All extends readonly Definition[]> = {
  [Index in keyof All]: BatchEntry<All[Index]>;
};

/** The answer to what changes a job. */
export interface JobReceipt {
  jobId: string;
  status: JobState;
  /** Only when there are some, such as UNREGISTERED: no worker has registered the definition. */
  warnings?: EnqueueWarning[] | undefined;
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
  /** What it is for, and what to do when it fails: an address by http or https. */
  description: string | null;
  runbookUrl: string | null;
  maxAttempts: number;
  timeoutSeconds: number;
  retry: RetryPolicy;
  retryOn: string[] | null;
  cancelGraceMs: number | null;
  maxInterruptions: number;
  isolation: Isolation;
  /** For its process with all its children; null is no limit. */
  memoryMb: number | null;
  /** How many run at a time, in all and of each concurrency key, as its code says. */
  concurrencyLimit: number | null;
  concurrencyKeyLimit: number | null;
  /** How often one may start, in all and of each concurrency key, as its code says. */
  rateLimit: RateLimit | null;
  keyRateLimit: RateLimit | null;
  hooks: HookName[];
  /** The program and its arguments, when it is one; null when it is code. */
  command: string[] | null;
  /** Paths that are hidden in params, results and events. */
  redact: string[];
  /** The schedules that its code asks for. */
  schedules: { name: string; cron: string; timezone: string }[];
  /** The JSON Schema of its params, when it has one. */
  paramsSchema: unknown;
  publishedAt: string;
  /** What holds for all its versions, with what people said and how much is in use. */
  limits: DefinitionLimitsView;
  /** Null unless the definition itself is paused; `flow.pauses()` has all that is. */
  paused: PauseView | null;
}
