import type { Problem } from '../../../core/problems/problem.ts';
import { printable } from '../../../core/values/printable.ts';
import { clip, widthOf } from '../columns.ts';
import { idCell } from '../id-cell.ts';

/** One line per problem: the definition, the text, the owner, and the command that shows more. */
export function issueLines(
  problems: readonly Problem[],
  next: (command: string) => string,
  widthMax = Infinity,
): string[] {
  return problems.map(({ about, text, owner, target }) => {
    const what = about === null ? text : `${about}: ${text}`;
    const whose = owner === null ? '' : ` (${owner})`;
    const command = printable(` → ${next(commandOf(target, widthMax))}`);
    // A command that is cut off cannot be copied, so the text is cut.
    const room = Math.max(TEXT_MIN, widthMax - widthOf(command));
    return `${clip(printable(`${what}${whose}`), room)}${command}`;
  });
}

function ofTenant(tenant: string | undefined): string {
  return tenant === undefined ? '' : ` --tenant ${tenant}`;
}

/** On a narrow terminal the line wraps. */
const TEXT_MIN = 30;

function commandOf(target: Problem['target'], widthMax: number): string {
  switch (target.at) {
    case 'job':
      return `show ${idCell(target.jobId, widthMax)}`;
    case 'jobs':
      return `list --status ${target.status.join(' --status ')}${ofTenant(target.tenant)}`;
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
    case 'tenant-limit':
      return `limits tenant ${target.name} --concurrency-limit NUMBER`;
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
