import type { InProcess, InProcessOptions } from './in-process.ts';

/** What `import … from 'longshore'` gives: how to define jobs, and ways to start them. */
export { defineJob, NonRetryable, RetryAfter } from './core/define.ts';
export { defineCommand, type CommandOptions } from './core/define-command.ts';
export type {
  HookContext,
  JobContext,
  JobDefinition,
  JobHooks,
  JobLogger,
  StandardSchema,
} from './core/define.ts';
export type { JobError, JobState, JobView } from './core/job.ts';
export type { InProcess, InProcessOptions } from './in-process.ts';
export * from './client/index.ts';

/** Longshore inside this process. Loaded on demand: runners import this file and need no database. */
export async function createLongshore(options: InProcessOptions = {}): Promise<InProcess> {
  const { createInProcess } = await import('./in-process.ts');
  return await createInProcess(options);
}
