import type { AuditView } from '../../../src/core/access/audit.ts';
import type { ProblemTarget } from '../../../src/core/problems/problem.ts';

export { alertTarget } from '../../../src/core/problems/problem.ts';

/** The screen that a link leads to. */
export type Target =
  | ProblemTarget
  | { at: 'deployment'; number: string }
  | { at: 'batch'; batchId: string }
  | { at: 'audit'; subject: string };

/** The screen of an audit entry's subject; for a deleted one, its audit entries. */
export function auditTarget({ action, subject }: Pick<AuditView, 'action' | 'subject'>): Target {
  const [kind, verb] = action.split('.');
  if (kind === 'job' && verb !== 'delete') return { at: 'job', jobId: subject };
  if (kind === 'batch') return { at: 'batch', batchId: subject };
  if (kind === 'schedule' && verb !== 'delete') return { at: 'schedule', scheduleId: subject };
  if (kind === 'webhook' && verb !== 'delete') return { at: 'webhook', webhookId: subject };
  if (kind === 'definition') return { at: 'definition', key: subject };
  if (kind === 'budget' && verb !== 'delete') return { at: 'usage', definitionKey: null };
  if (kind === 'deployment') return { at: 'deployment', number: subject };
  return { at: 'audit', subject };
}
