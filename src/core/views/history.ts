import type { JobError, JobState } from '../job/job.ts';

/**
 * What can be read about a job beyond its state: its attempts, what it wrote, and what happened to
 * it in order. One shape for the API, the SDK, the CLI and the dashboard.
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
  /** Grows along the history, so that a reader can go on after it. */
  id: string;
  type: EventType;
  at: string;
  /** Null for what belongs to no attempt. */
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
  /** The state that its end brought the job into; null while it runs. */
  outcome: JobState | null;
}

/** `system` is Longshore itself, for example where it had to cut. */
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

/** A line as it is read. */
export interface LogView {
  id: string;
  attempt: number;
  at: string;
  level: Level;
  stream: LogStream;
  message: string;
}

/** What a hook is told about the job that it belongs to; the params of its own small job. */
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
