import type { Problem } from '../../../core/problems/problem.ts';
import { printable } from '../../../core/values/printable.ts';

/** One line per problem: the definition, the text, the owner, and the command that shows more. */
export function issueLines(
  problems: readonly Problem[],
  next: (command: string) => string,
): string[] {
  return problems.map(({ about, text, owner, target }) => {
    const what = about === null ? text : `${about}: ${text}`;
    const whose = owner === null ? '' : ` (${owner})`;
    return printable(`${what}${whose} → ${next(commandOf(target))}`);
  });
}

function commandOf(target: Problem['target']): string {
  switch (target.at) {
    case 'job':
      return `show ${target.jobId}`;
    case 'jobs':
      return `list --status ${target.status.join(' --status ')}`;
    case 'workers':
      return 'workers';
    case 'alerts':
      return 'alerts';
    case 'usage':
      return 'usage';
    case 'tenants':
      return 'tenants';
    case 'tenant':
      return `issues --tenant ${target.name}`;
    case 'definition':
      return `definitions ${target.key}`;
    case 'dead-letters':
      return target.fingerprint === null
        ? 'dlq groups'
        : `dlq list --fingerprint ${target.fingerprint}`;
    case 'schedule':
      return `schedules show ${target.scheduleId}`;
    case 'webhook':
      return `webhooks deliveries ${target.webhookId}`;
  }
}
