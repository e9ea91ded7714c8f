import type { BatchFacts } from '../batch/batch-facts.ts';
import type { WaitsFor } from '../dependency/waits-for.ts';
import type { LargeView } from '../large/large-view.ts';
import type { UniqueWhile } from './unique.ts';

export { NO_USAGE, type Usage } from '../values/process-usage.ts';

/**
 * The types of a job. A job is one instance of a definition; it is in exactly one state, and
 * `transitions.ts` lists the legal transitions and which part makes them. `lifecycle.ts` decides the
 * next state of an attempt that has ended.
 */

export const JOB_STATES = [
  'created', // Held: durable, but not eligible until it is released.
  'scheduled', // Waits for its time (`runAt`); the promoter moves it on.
  'queued', // Eligible and without an owner; a worker claims it.
  'running', // Owned by exactly one claim; only that claim, or the reaper, moves it on.
  'retrying', // Failed, waits for its backoff (`runAt`); the promoter moves it on.
  'suspended', // Waits for a signal, until `runAt`, or for other jobs; it has no slot and no process.
  'cancelling', // Still owned by its claim, which has been asked to stop.
  'succeeded', // Ended: `run` returned.
  'failed', // Ended: a dead letter. It needs an operator.
  'cancelled', // Ended: cancelled on request.
] as const;

export type JobState = (typeof JOB_STATES)[number];

export const WAITING_STATES = ['created', 'scheduled', 'queued', 'retrying', 'suspended'] as const;
export const OWNED_STATES = ['running', 'cancelling'] as const;
export const TERMINAL_STATES = ['succeeded', 'failed', 'cancelled'] as const;

export type WaitingState = (typeof WAITING_STATES)[number];
export type OwnedState = (typeof OWNED_STATES)[number];
export type TerminalState = (typeof TERMINAL_STATES)[number];

export function isTerminal(state: JobState): state is TerminalState {
  return (TERMINAL_STATES as readonly JobState[]).includes(state);
}

/** What a job overrides of its definition's policy; stored with its body. Null: nothing. */
export interface JobPolicy {
  timeoutMs?: number;
  retry?: RetryPolicy;
  /** The failures to retry when the definition has no `retryOn`. */
  defaultRetryOn?: readonly string[];
  /** Fail when no worker has the definition for a while. Other jobs wait for a worker. */
  failsUnserved?: true;
  /** The unique key that the job holds or has held. */
  unique?: { key: string; while: UniqueWhile };
  /** It has waited for other jobs, so its attempts get their outcomes (`ctx.parents`). */
  hasParents?: true;
  /** Of a batch. */
  batch?: BatchFacts;
  /** The shape of its params; absent for 1 (`core/shape/upgrade.ts`). */
  paramsShape?: number;
}

/** The delay before a retry: exponential, or a list of delays. See `backoff.ts`. */
export type RetryPolicy =
  | { baseMs: number; maxMs: number; jitter: number }
  | { delaysMs: readonly number[]; jitter: number };

/** Why an attempt or a job did not succeed. The API shows it as `error`. */
export interface JobError {
  code: string;
  message: string;
  stack: string | null;
  cause: JobError | null;
  /** The step of `ctx.step` that threw, or ran when the attempt was ended; absent without one. */
  step?: FailedStep | undefined;
}

export interface FailedStep {
  name: string;
  durationMs: number;
  /** From its start to the end of the attempt, whose code may have gone on after it. */
  untilEndMs: number;
}

/** A job as shown by the API, the SDK, the CLI and the dashboard. */
export interface JobView extends LargeView {
  jobId: string;
  definitionKey: string;
  definitionVersion: number;
  tenant: string;
  owner: string | null;
  status: JobState;
  priority: number;
  attempts: number;
  maxAttempts: number;
  tags: string[];
  params: unknown;
  /** The shape of the params, and the one that the published code works with. */
  paramsShape: number;
  currentParamsShape: number | null;
  result: unknown;
  error: JobError | null;
  /** The error in one line. */
  errorSummary: string | null;
  progress: { fraction: number | null; message: string | null } | null;
  idempotencyKey: string | null;
  concurrencyKey: string | null;
  scheduleId: string | null;
  scheduledFor: string | null;
  /** What a suspended job waits for. */
  waitsFor: WaitsFor | null;
  warnings: { code: string; since: string | null; detail?: string | undefined }[];
  createdAt: string;
  queuedAt: string | null;
  runAt: string | null;
  expiresAt: string | null;
  startedAt: string | null;
  finishedAt: string | null;
  updatedAt: string;
  heartbeatAt: string | null;
  leaseExpiresAt: string | null;
  cancelRequestedAt: string | null;
  workerId: string | null;
}
