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
  'custom',
  'retry_scheduled',
  'lease_lost',
  'cancel_requested',
  'interrupted',
  'snoozed',
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

export interface AttemptView {
  number: number;
  claim: number;
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
