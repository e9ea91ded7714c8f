import type { JobError, JobState } from '../job/job.ts';

/**
 * The attempts, the log and the history of a job, as shown by the API, the SDK, the CLI and the
 * dashboard.
 */

export const EVENT_TYPES = [
  'created',
  'queued',
  'started',
  'progress',
  'step',
  'custom',
  'retry_scheduled',
  'lease_lost',
  'cancel_requested',
  'interrupted',
  'snoozed',
  'suspended',
  'signal',
  'signal_rejected',
  'succeeded',
  'failed',
  'cancelled',
  'hook',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export interface EventView {
  /** Increases along the history; a cursor. */
  id: string;
  type: EventType;
  at: string;
  /** Null when the event belongs to no attempt. */
  attempt: number | null;
  payload: unknown;
}

/** A value that `ctx.step` stored. */
export interface StepView {
  name: string;
  /** The claim of the attempt that ran it. */
  claim: number;
  /** When it was stored, right after its end. */
  at: string;
  /** Null if the worker did not measure it. */
  durationMs: number | null;
  value: unknown;
}

/** What the attempts of a job have stored, the oldest first. */
export interface StepsView {
  steps: StepView[];
  checkpoint: Pick<StepView, 'at' | 'value'> | null;
  /** False when there is more than an answer holds. */
  complete: boolean;
}

export interface AttemptView {
  number: number;
  claim: number;
  /** The version of the code that it ran: a retry by hand may change it. */
  definitionVersion: number;
  workerId: string | null;
  pid: number | null;
  startedAt: string;
  /** Null while it runs. */
  finishedAt: string | null;
  durationMs: number | null;
  exitCode: number | null;
  signal: string | null;
  peakRssBytes: number | null;
  cpuMs: number | null;
  error: JobError | null;
  /** The state that the attempt ended in; null while it runs. */
  outcome: JobState | null;
}

/** `system` is Longshore itself, for example where it truncated. */
export const LOG_STREAMS = ['stdout', 'stderr', 'logger', 'system'] as const;
export type LogStream = (typeof LOG_STREAMS)[number];

export const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
export type Level = (typeof LEVELS)[number];

/** A line as a worker stores it. */
export interface LogLine {
  atMs: number;
  level: Level;
  stream: LogStream;
  message: string;
}

/** A line as the API shows it. */
export interface LogView {
  id: string;
  attempt: number;
  at: string;
  level: Level;
  stream: LogStream;
  message: string;
}

/** An entry of the stream of a job as the API shows it. */
export interface StreamView {
  id: string;
  attempt: number;
  /** Null: the code of the job begins (again), and the stream starts over. */
  text: string | null;
}

/** A line in the log of all jobs of a definition. */
export interface DefinitionLogView extends LogView {
  jobId: string;
}

/** The params of a hook, which is a job of its own: what it learns about the job it belongs to. */
export interface HookParams {
  hook: HookName;
  jobId: string;
  status: JobState;
  attempt: number;
  maxAttempts: number;
  params: unknown;
  result: unknown;
  error: JobError | null;
}

export const HOOKS = ['onStart', 'onSuccess', 'onFail', 'onEnd'] as const;
export type HookName = (typeof HOOKS)[number];
