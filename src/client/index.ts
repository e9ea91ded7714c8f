/** What `import … from 'longshore/client'` gives: the SDK over HTTP, without the server. */
export type {
  ApiKey,
  AuditEntry,
  AuditFilter,
  AuditPage,
  KeyOptions,
  NewKey,
  Tenant,
} from './access.ts';
export {
  Forbidden,
  ProblemError,
  type ProblemDetail,
  RateLimited,
  ServerUnreachable,
  Unauthorized,
  WaitTimeout,
} from './errors.ts';
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
} from './job.ts';
export type { DrainReceipt, WorkerInfo } from './worker.ts';
export { type GetOptions, Longshore, type LongshoreOptions } from './longshore.ts';
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
