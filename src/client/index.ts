/** What `import … from 'longshore/client'` gives: the SDK over HTTP, without the server. */
export type { Alert, AlertFilter, AlertPage, AlertRule, AlertRuleOptions } from './alerts.ts';
export type {
  Bulk,
  BulkFilter,
  BulkOptions,
  BulkPage,
  BulkPreview,
  BulkWaitOptions,
} from './bulk.ts';
export type { Change, ChangesOptions } from './changes.ts';
export type {
  DeadLetter,
  DeadLetterFilter,
  DeadLetterGroup,
  DeadLetterGroupFilter,
  DeadLetterGroups,
  DeadLetterPage,
  RetryManyOptions,
} from './dead-letters.ts';
export type {
  DefinitionLimits,
  FlowTarget,
  LimitsChange,
  Pause,
  TenantLimitsChange,
} from './limits.ts';
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
  JobFailed,
  ProblemError,
  type ProblemDetail,
  ServerUnreachable,
  WaitTimeout,
} from './http/errors.ts';
export {
  Conflict,
  Forbidden,
  IdempotencyConflict,
  InvalidRequest,
  NotFound,
  RateLimited,
  Unauthorized,
  Unavailable,
} from './http/problems.ts';
export type { EnqueueWarning } from '../core/definition/enqueue-warning.ts';
export { enqueueIn, type EnqueueInOptions, type EnqueueInReceipt } from './enqueue-in.ts';
export type {
  DrizzleTransaction,
  KnexTransaction,
  KyselyTransaction,
  PgTransaction,
  PostgresJsTransaction,
  PrismaTransaction,
  Transaction,
} from './transaction.ts';
export { JobHandle, type JobHandles, type JobStarter, type WaitOptions } from './handle.ts';
export type {
  BatchEntries,
  BatchEntry,
  DefinitionRef,
  EnqueueOptions,
  InputOf,
  Job,
  JobPage,
  JobReceipt,
  ListFilter,
  PublishedDefinition,
  ResultOf,
  RetryOptions,
  UniqueOption,
} from './job.ts';
export type { DefinitionStats, Stats, StatsOptions } from './stats.ts';
export type { DrainReceipt, WorkerInfo } from './worker.ts';
export { type GetOptions, Longshore, type LongshoreOptions } from './longshore.ts';
export type { JobAttempt, JobEvent, JobLog, ReadLogOptions, ReadOptions } from './history.ts';
export type {
  Schedule,
  ScheduleFilter,
  ScheduleOptions,
  SchedulePage,
  Slot,
  SlotPage,
  Upcoming,
} from './schedules.ts';
export type {
  Delivery,
  DeliveryPage,
  NewWebhook,
  WebhookInfo,
  WebhookOptions,
} from './webhooks.ts';
export {
  type ReceivedHeaders,
  verifyWebhook,
  WebhookNotVerified,
  type WebhookPayload,
} from './verify-webhook.ts';
