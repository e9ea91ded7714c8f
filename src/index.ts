import type { InProcess, InProcessOptions } from './app/in-process.ts';

/** What `import … from 'longshore'` gives: how to define jobs, and ways to start them. */
export { defineJob, NonRetryable, RetryAfter } from './core/definition/define.ts';
export { defineCommand, type CommandOptions } from './core/definition/define-command.ts';
export type {
  HookContext,
  JobContext,
  JobDefinition,
  JobHooks,
  JobLogger,
  StandardSchema,
} from './core/definition/define.ts';
export type { JobError, JobState, JobView } from './core/job/job.ts';
export type { InProcess, InProcessOptions } from './app/in-process.ts';
export * from './client/index.ts';

/** Longshore inside this process. Loaded on demand: runners import this file and need no database. */
export async function createLongshore(options: InProcessOptions = {}): Promise<InProcess> {
  const { createInProcess } = await import('./app/in-process.ts');
  return await createInProcess(options);
}
