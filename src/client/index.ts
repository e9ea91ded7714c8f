/** `longshore/client`: the SDK over HTTP, without the server. */
export type {
  Alert,
  AlertFilter,
  AlertMessage,
  AlertMessagePage,
  AlertPage,
  AlertRoute,
  SavedAlertRoute,
  AlertRouteOptions,
  AlertRule,
  AlertRuleOptions,
  QuietHoursOptions,
} from './alerts.ts';
export type {
  Batch,
  BatchHandle,
  BatchMaker,
  BatchOptions,
  BatchWaitOptions,
} from './batches/batches.ts';
export type { BatchJobPage, BatchPage } from './batches/http-batches.ts';
export type {
  Bulk,
  BulkFilter,
  BulkOptions,
  BulkPage,
  BulkPreview,
  BulkWaitOptions,
} from './bulk.ts';
export type { Change, ChangesOptions } from './changes.ts';
export type { StreamChunk, StreamOptions } from './http/stream-chunks.ts';
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
  Paused,
  TenantLimitsChange,
} from './limits.ts';
export type {
  ApiKey,
  AuditEntry,
  AuditFilter,
  AuditPage,
  CallerInfo,
  KeyOptions,
  NewKey,
  Secret,
  SecretOptions,
  Session,
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
  EnqueueError,
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
  JobRef,
  NewSignalLink,
  SignalLinkInfo,
  SignalReceipt,
  ListFilter,
  PublishedDefinition,
  ResultOf,
  CancelOptions,
  RetryOptions,
  UniqueOption,
} from './job.ts';
export type { LinkChoice, SignalLinkOptions } from '../core/signal/signal-link.ts';
export type { ExportOptions } from './search/export-jobs.ts';
export type { View, ViewOptions } from './search/views.ts';
export type { DefinitionScale, Scale, ScaleOptions, Shard, Shards } from './scale.ts';
export type { DefinitionStats, Series, SeriesOptions, Stats, StatsOptions } from './stats.ts';
export type {
  Budget,
  BudgetOptions,
  Usage,
  UsageGroup,
  UsageOptions,
  UsageRow,
  UsageSums,
} from './usage/usage.ts';
export type { DrainReceipt, WorkerInfo } from './worker.ts';
export { type GetOptions, Longshore, type LongshoreOptions } from './longshore.ts';
export type {
  DefinitionLog,
  DefinitionLogOptions,
  JobAttempt,
  JobEvent,
  JobLog,
  JobSteps,
  ReadLogOptions,
  ReadOptions,
} from './history.ts';
export type {
  NewSchedule,
  NewScheduleOptions,
  Schedule,
  ScheduleFilter,
  ScheduleOptions,
  SchedulePage,
  Slot,
  SlotPage,
  PreviewOptions,
  Upcoming,
} from './schedules.ts';
export type {
  Delivery,
  DeliveryPage,
  NewWebhook,
  WebhookInfo,
  WebhookOptions,
} from './webhooks/webhooks.ts';
export {
  type ReceivedHeaders,
  verifyWebhook,
  WebhookNotVerified,
  type WebhookPayload,
} from './webhooks/verify-webhook.ts';
export type { OnParentFailure } from '../core/dependency/dependency.ts';
export type { OutcomesView as JobOutcomes } from '../core/dependency/outcomes.ts';
export type { RelatedJob, RelatedJobs } from '../core/dependency/related.ts';
