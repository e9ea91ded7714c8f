import type { AlertView } from '../../../src/core/views/alert.ts';
import type { AuditView } from '../../../src/core/access/audit.ts';
import type { JobState } from '../../../src/core/job/job.ts';

/** Where something is looked at. */
export type Place =
  | { at: 'job'; jobId: string }
  | { at: 'jobs'; status: JobState[] }
  | { at: 'workers' }
  | { at: 'alerts' }
  | { at: 'definition'; key: string }
  | { at: 'dead-letters'; fingerprint: string | null }
  | { at: 'schedule'; scheduleId: string }
  | { at: 'webhook'; webhookId: string }
  | { at: 'audit'; subject: string };

/** The nearest thing that an alert is about; null when it is about the server. */
export function placeOfAlert({
  jobId,
  scheduleId,
  definitionKey,
}: Pick<AlertView, 'jobId' | 'scheduleId' | 'definitionKey'>): Place | null {
  if (jobId !== null) return { at: 'job', jobId };
  if (scheduleId !== null) return { at: 'schedule', scheduleId };
  return definitionKey === null ? null : { at: 'definition', key: definitionKey };
}

/** What still has a screen is looked at there; of the rest one sees what else was done to it. */
export function auditCursorOf({ action, subject }: Pick<AuditView, 'action' | 'subject'>): Place {
  const [kind, verb] = action.split('.');
  if (kind === 'job' && verb !== 'delete') return { at: 'job', jobId: subject };
  if (kind === 'schedule' && verb !== 'delete') return { at: 'schedule', scheduleId: subject };
  if (kind === 'webhook' && verb !== 'delete') return { at: 'webhook', webhookId: subject };
  if (kind === 'definition') return { at: 'definition', key: subject };
  return { at: 'audit', subject };
}
