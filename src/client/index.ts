/** What `import … from 'longshore/client'` gives: the SDK over HTTP, without the server. */
export { ProblemError, type ProblemDetail, ServerUnreachable, WaitTimeout } from './errors.ts';
export type {
  Bulk,
  BulkFilter,
  BulkOptions,
  BulkPage,
  BulkPreview,
  BulkWaitOptions,
} from './bulk.ts';
export type {
  DeadLetter,
  DeadLetterFilter,
  DeadLetterGroup,
  DeadLetterGroupFilter,
  DeadLetterGroups,
  DeadLetterPage,
  RetryManyOptions,
} from './dead-letters.ts';
export { JobHandle, type WaitOptions } from './handle.ts';
export type {
  BatchEntry,
  DefinitionRef,
  EnqueueOptions,
  Job,
  JobPage,
  JobReceipt,
  ListFilter,
  PublishedDefinition,
  RetryOptions,
} from './job.ts';
export type { DrainReceipt, WorkerInfo } from './worker.ts';
export { Longshore, type LongshoreOptions } from './longshore.ts';
export type { JobAttempt, JobEvent, JobLog, ReadLogOptions, ReadOptions } from './story.ts';
export type {
  Schedule,
  ScheduleFilter,
  ScheduleOptions,
  SchedulePage,
  Slot,
  SlotPage,
  Upcoming,
} from './schedules.ts';
