import type { InProcess, InProcessOptions } from './app/in-process.ts';
import type { RunDueJobsOptions } from './app/run-due/run-due-jobs.ts';
import type { RunDueSummary } from './core/queue/run-due.ts';

/** What `import … from 'longshore'` gives: how to define jobs, and ways to start them. */
export { defineBatchJob } from './core/definition/define-batch.ts';
export type {
  BatchContext,
  BatchItem,
  BatchJobOptions,
  ItemFailure,
} from './core/definition/define-batch.ts';
export {
  ChildrenFailed,
  defineJob,
  NonRetryable,
  RetryAfter,
  SignalTimeout,
} from './core/definition/define.ts';
export { defineCommand, type CommandOptions } from './core/definition/define-command.ts';
export type {
  HookContext,
  JobContext,
  JobDefinition,
  JobHooks,
  JobLogger,
  StandardSchema,
  WaitForChildrenOptions,
  WaitForOptions,
} from './core/definition/define.ts';
export type {
  ChildJob,
  ChildOutcome,
  SpawnEntries,
  SpawnEntry,
  SpawnOptions,
} from './core/dependency/children.ts';
export type { JobOutcome, OnParentFailure } from './core/dependency/dependency.ts';
export type { JobError, JobState, JobView } from './core/job/job.ts';
export type { InProcess, InProcessOptions } from './app/in-process.ts';
export type { RunDueJobsOptions } from './app/run-due/run-due-jobs.ts';
export type { RunDueSummary } from './core/queue/run-due.ts';
export * from './client/index.ts';

/** Longshore inside this process. Loaded on demand: runners import this file and need no database. */
export async function createLongshore(options: InProcessOptions = {}): Promise<InProcess> {
  const { createInProcess } = await import('./app/in-process.ts');
  return await createInProcess(options);
}

/**
 * Runs what is due within a budget, and returns: for a platform that calls a function every minute
 * and keeps no process.
 */
export async function runDueJobs(options: RunDueJobsOptions = {}): Promise<RunDueSummary> {
  const { runDueJobsApp } = await import('./app/run-due/run-due-jobs.ts');
  return await runDueJobsApp(options);
}
