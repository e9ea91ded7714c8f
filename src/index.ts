/** What `import … from 'longshore'` gives: how to define jobs, and the client that starts them. */
export { defineJob, NonRetryable, RetryAfter } from './core/define.ts';
export type { JobContext, JobDefinition, JobLogger, StandardSchema } from './core/define.ts';
export type { JobError, JobState, JobView } from './core/job.ts';
export * from './client/index.ts';
