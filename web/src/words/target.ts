import type { AlertView } from '../../../src/core/views/alert.ts';
import type { AuditView } from '../../../src/core/access/audit.ts';
import type { JobState } from '../../../src/core/job/job.ts';

/** The screen that a link leads to. */
export type Target =
  | { at: 'job'; jobId: string }
  | { at: 'jobs'; status: JobState[] }
  | { at: 'workers' }
  | { at: 'alerts' }
  | { at: 'definition'; key: string }
  | { at: 'dead-letters'; fingerprint: string | null }
  | { at: 'schedule'; scheduleId: string }
  | { at: 'webhook'; webhookId: string }
  | { at: 'audit'; subject: string };

/** The screen of an alert's subject; null if it concerns the whole server. */
export function alertTarget({
  jobId,
  scheduleId,
  definitionKey,
}: Pick<AlertView, 'jobId' | 'scheduleId' | 'definitionKey'>): Target | null {
  if (jobId !== null) return { at: 'job', jobId };
  if (scheduleId !== null) return { at: 'schedule', scheduleId };
  return definitionKey === null ? null : { at: 'definition', key: definitionKey };
}

/** The screen of an audit entry's subject; for a deleted one, its audit entries. */
export function auditTarget({ action, subject }: Pick<AuditView, 'action' | 'subject'>): Target {
  const [kind, verb] = action.split('.');
  if (kind === 'job' && verb !== 'delete') return { at: 'job', jobId: subject };
  if (kind === 'schedule' && verb !== 'delete') return { at: 'schedule', scheduleId: subject };
  if (kind === 'webhook' && verb !== 'delete') return { at: 'webhook', webhookId: subject };
  if (kind === 'definition') return { at: 'definition', key: subject };
  return { at: 'audit', subject };
}
