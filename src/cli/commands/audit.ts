import type { Command } from 'commander';
import type { AuditEntry, AuditFilter } from '../../client/index.ts';
import type { Cli } from '../cli.ts';
import { columns } from '../text/columns.ts';
import { addPage } from '../options/page-options.ts';
import { clientOf, outputOf } from '../session.ts';

export function addAudit(program: Command, cli: Cli): void {
  const audit = program
    .command('audit')
    .summary('list the audit log')
    .description('List audit entries, newest first, one page at a time.')
    .option('--actor <actor>', 'only entries of this actor, like key:1f0c528d0e4f0b9a')
    .option('--action <action>', 'only this action, like job.cancel')
    .option('--subject <id>', 'only entries about this subject')
    .option('--q <text>', 'only with this text in the actor, action, subject, address or change')
    .option('--after <time>', 'only at this time or later, like 2030-01-31T08:00:00Z')
    .option('--before <time>', 'only before this time');
  addPage(audit).action(async (options: AuditFilter, command: Command) => {
    const out = outputOf(cli, command);
    const page = await clientOf(cli, command).audit(options);
    if (out.json) return out.document(page);
    if (page.entries.length === 0) return out.note('No matching audit entries.');
    out.table(columns([HEADER, ...page.entries.map(row)], out.width));
    out.noteMore(page.nextCursor);
  });
}

const HEADER = ['TIME', 'ACTOR', 'ACTION', 'SUBJECT', 'ADDRESS', 'CHANGE'];

function row({ at, actor, action, subject, address, before, after }: AuditEntry): string[] {
  const change = [before, after].map((value) => (value === null ? '' : JSON.stringify(value)));
  return [at, actor, action, subject, address ?? '-', change.filter(Boolean).join(' → ')];
}
