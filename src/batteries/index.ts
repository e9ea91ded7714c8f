/** `longshore/batteries`: ready-made jobs. A definition file exports one with a team's settings. */
export {
  type DeliveryReceipt,
  webhookDelivery,
  type WebhookDeliveryOptions,
  type WebhookDeliveryParams,
} from './webhook-delivery.ts';
export {
  notification,
  type NotificationOptions,
  type NotificationParams,
  type NotificationReceipt,
} from './notification/notification.ts';
export {
  cleanup,
  type CleanupOptions,
  type CleanupParams,
  type CleanupResult,
} from './cleanup/cleanup.ts';
export { type Cache, httpCache, redisCache } from './cleanup/caches.ts';
export type { ErasureCertificate, PersonTables } from './cleanup/erasure.ts';
export type { RetentionResult, RetentionRule } from './cleanup/retention.ts';
export {
  report,
  type ReportOptions,
  type ReportParams,
  type ReportResult,
} from './report/report.ts';
export type { QueryReport, ReportFormat, ReportSource, RowsReport } from './report/source.ts';
export type { CsvOptions } from './report/csv.ts';
export type { PdfOptions } from './report/pdf.ts';
export type { RowsFunction } from './report/rows.ts';
export type { SentReport, StoredReport } from './report/send-report.ts';
export type { CellKind, ColumnOptions } from './report/table.ts';
export { failureOf } from './guarded-post.ts';
export { secretOf } from './ready-job.ts';
export type { Attachment, Channel, Message, Receipt, Sender } from './notification/channel.ts';
export type { Template } from './notification/template.ts';
export { chatWebhook, discord, slack, teams, type ChatOptions } from './notification/chat.ts';
export { email, type EmailOptions } from './notification/email.ts';
export { fcm, type FcmOptions } from './notification/fcm.ts';
export { twilio, type TwilioOptions } from './notification/twilio.ts';
