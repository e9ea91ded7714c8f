import type { Unsearched } from '../core/search/unsearched.ts';
import type { Isolation, RetryInput } from '../core/definition/definition.ts';
import type { EnqueueWarning } from '../core/definition/enqueue-warning.ts';
import type { DefinitionLimitsView, PauseView } from '../core/queue/limit-view.ts';
import type { OnParentFailure } from '../core/dependency/dependency.ts';
import type { JobState, JobView, RetryPolicy } from '../core/job/job.ts';
import type { LinkState } from '../core/signal/signal-link.ts';
import type { RateLimit } from '../core/queue/limits.ts';
import type { RetryMode, RetryVersion } from '../core/failure/retry.ts';
import type { HookName } from '../core/views/history.ts';
import type { UniqueWhile } from '../core/job/unique.ts';

/** A job as the server shows it, with the result type of its definition. */
export type Job<Result = unknown> = Omit<JobView, 'result'> & { result: Result | null };

/**
 * A definition, or at least its key: the return value of `defineJob`, or a plain `{ key }`. Import
 * it as a type only, then the code of the job stays out of your bundle.
 */
export interface DefinitionRef<Input = unknown, Result = unknown> {
  readonly key: string;
  readonly version?: number | undefined;
  /** The shape of the params that its code works with. */
  readonly paramsShape?: number | undefined;
  readonly types?: { input: Input; result: Result } | undefined;
}

export interface EnqueueOptions {
  definitionVersion?: number | undefined;
  /** The shape of the params. Default: that of the definition, else the current one. */
  paramsShape?: number | undefined;
  /** An integer; higher runs first, default 0. */
  priority?: number | undefined;
  maxAttempts?: number | undefined;
  /** Two requests with the same key create one job. By default a random one, for repetitions. */
  idempotencyKey?: string | undefined;
  /** Jobs with the same key share the limits that the definition has for keys. */
  concurrencyKey?: string | undefined;
  runAt?: Date | string | undefined;
  /** Another name of `runAt`. */
  scheduledAt?: Date | string | undefined;
  delayMs?: number | undefined;
  /** Stored as held: does not run before `release`. */
  hold?: boolean | undefined;
  timeoutSeconds?: number | undefined;
  retry?: RetryInput | undefined;
  tags?: readonly string[] | undefined;
  /** Jobs that must end first, at most 100: handles or ids. The job is suspended until then. */
  after?: readonly JobRef[] | undefined;
  /** If one of them does not succeed: fail (the default), run, or be cancelled. */
  onParentFailure?: OnParentFailure | undefined;
  /** Aborts the request; the job may have been stored already. */
  signal?: AbortSignal | undefined;
  /** Creates no second job while an equal one waits, is active, or is younger than a window. */
  unique?: UniqueOption | undefined;
  /** A job that has not started by then fails with EXPIRED. */
  expiresAt?: Date | string | undefined;
  /** The params are not validated now, only before the job runs. */
  skipValidation?: boolean | undefined;
  /** Refuse the job when no worker has registered its definition, or accept it with a warning. */
  requireRegistered?: boolean | undefined;
}

/** A job, by its handle or its id. */
export type JobRef = string | { readonly id: string };

/** When two jobs are equal, for how long, and what happens then. */
export interface UniqueOption {
  /** By default the params. */
  key?: string | undefined;
  while: UniqueWhile;
  /** Return the earlier job, or replace its params, priority and times if it has not started. */
  onConflict?: 'existing' | 'replace' | undefined;
  /** With `replace`: it becomes due at the latest so long after the first request. */
  maxWaitMs?: number | undefined;
}

/** Params can be omitted where the definition allows undefined. */
export type EnqueueArguments<Input> = undefined extends Input
  ? [params?: Input, options?: EnqueueOptions]
  : [params: Input, options?: EnqueueOptions];

type Definition = DefinitionRef | string;

/** The params and result types of a definition. A plain key has unknown types. */
export type InputOf<Of> = Of extends DefinitionRef<infer Input> ? Input : unknown;
export type ResultOf<Of> = Of extends DefinitionRef<unknown, infer Result> ? Result : unknown;

/** One job of `enqueueMany`. */
export interface BatchEntry<Of extends Definition = Definition> {
  definition: Of;
  params?: NoInfer<InputOf<Of>> | undefined;
  options?: Omit<EnqueueOptions, 'signal'> | undefined;
}

/** The entries of `enqueueMany`, each checked against its own definition. */
export type BatchEntries<All extends readonly Definition[]> = {
  [Index in keyof All]: BatchEntry<All[Index]>;
};

/** The response to a change of a job. */
export interface JobReceipt {
  jobId: string;
  status: JobState;
  /** Only if there are any, such as UNREGISTERED: no worker has registered the definition. */
  warnings?: EnqueueWarning[] | undefined;
}

/** The response to a signal. */
export interface SignalReceipt {
  jobId: string;
  signal: string;
  status: JobState;
  /** The job had this signal already, with the same payload. */
  duplicate: boolean;
  /** Only if there are any, such as NOT_AWAITED: the job waits for another signal. */
  warnings?: EnqueueWarning[] | undefined;
}

/** A new one-time link for a signal. */
export interface NewSignalLink {
  jobId: string;
  signal: string;
  linkId: string;
  /** The link itself. The server shows it only once. */
  url: string;
  expiresAt: string;
}

export interface SignalLinkInfo {
  linkId: string;
  expiresAt: string;
  state: LinkState;
  /** When it was used or revoked. */
  endedAt: string | null;
}

/** How to cancel a job. */
export interface CancelOptions {
  /** Also the children that it has spawned, and theirs. */
  children?: boolean | undefined;
}

/** How to retry a job. */
export interface RetryOptions {
  /** Default `now`. `later` waits; `reset` also forgets attempts, steps and checkpoint. */
  mode?: RetryMode | undefined;
  /** For `later`; by default after the backoff. */
  runAt?: Date | string | undefined;
  /** Replaces the params. */
  params?: unknown;
  /** `current`: the code that a new job gets. Default `same`: what the job was queued with. */
  version?: RetryVersion | undefined;
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
  /** Begins or ends the id: at most the 10 newest jobs. Not with other filters. */
  id?: string | undefined;
  /** A search, like `status:failed owner:billing timeout`. */
  q?: string | undefined;
  /** Default newest first. `runAt` is for scheduled and retrying, `-priority` for queued jobs. */
  sort?: '-createdAt' | 'createdAt' | 'runAt' | '-priority' | undefined;
  cursor?: string | undefined;
  limit?: number | undefined;
}

export interface JobPage {
  jobs: Job[];
  nextCursor: string | null;
  /** Jobs were searched up to this creation time; null at the end. */
  searchedUntil: string | null;
  /** Kinds of params that the words of `q` were not compared with, if there may be any. */
  unsearched?: readonly Unsearched[];
}

/** A definition that a worker has published. */
export interface PublishedDefinition {
  key: string;
  version: number;
  owner: string | null;
  /** Purpose; and what to do when it fails, an http or https URL. */
  description: string | null;
  runbookUrl: string | null;
  maxAttempts: number;
  timeoutSeconds: number;
  /** The longest silence of an attempt; null for no limit. */
  stallTimeoutMs: number | null;
  retry: RetryPolicy;
  retryOn: string[] | null;
  cancelGraceMs: number | null;
  maxInterruptions: number;
  isolation: Isolation;
  /** For its process with all children; null for no limit. */
  memoryMb: number | null;
  /** How many run at a time, in total and per concurrency key, in the code. */
  concurrencyLimit: number | null;
  concurrencyKeyLimit: number | null;
  /** How often one may start, in total and per concurrency key, in the code. */
  rateLimit: RateLimit | null;
  keyRateLimit: RateLimit | null;
  /** The number of shards for its jobs; null for 1. */
  spread: number | null;
  hooks: HookName[];
  /** The program and its arguments; null for a TypeScript definition. */
  command: string[] | null;
  /** Paths that are hidden in params, results and events. */
  redact: string[];
  /** The schedules in its code. */
  schedules: { name: string; cron: string; timezone: string }[];
  /** The JSON Schema of its params, if any. */
  paramsSchema: unknown;
  /** The shape of params that its code works with; 1 without upgrades. */
  paramsShape: number;
  /** Jobs run in groups: at most `size` in one call; null: each job alone. */
  group: { size: number; waitMs: number } | null;
  publishedAt: string;
  /** The limits in force for all versions, with overrides and permits in use. */
  limits: DefinitionLimitsView;
  /** Null unless the definition itself is paused; `flow.pauses()` lists all pauses. */
  paused: PauseView | null;
}
