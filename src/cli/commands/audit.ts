import type { Command } from 'commander';
import type { AuditEntry, AuditFilter } from '../../client/index.ts';
import type { Cli } from '../cli.ts';
import { columns } from '../text/columns.ts';
import { addPage } from '../options/page-options.ts';
import { clientOf, outputOf } from '../session.ts';

export function addAudit(program: Command, cli: Cli): void {
  const audit = program
    .command('audit')
    .summary('see who did what')
    .description('List what was done by hand, the newest first, one page at a time.')
    .option('--actor <actor>', 'only what this one did, like key:1f0c528d0e4f0b9a')
    .option('--action <action>', 'only this, like job.cancel')
    .option('--subject <id>', 'only what was done to this')
    .option('--after <time>', 'only from this time on, like 2030-01-31T08:00:00Z')
    .option('--before <time>', 'only before this time');
  addPage(audit).action(async (options: AuditFilter, command: Command) => {
    const out = outputOf(cli, command);
    const page = await clientOf(cli, command).audit(options);
    if (out.json) return out.document(page);
    if (page.entries.length === 0) return out.note('Nothing was done by hand.');
    out.table(columns([HEADER, ...page.entries.map(row)], out.width));
    out.noteMore(page.nextCursor);
  });
}

const HEADER = ['AT', 'WHO', 'WHAT', 'TO', 'FROM', 'CHANGE'];

function row({ at, actor, action, subject, address, before, after }: AuditEntry): string[] {
  const change = [before, after].map((value) => (value === null ? '' : JSON.stringify(value)));
  return [at, actor, action, subject, address ?? '-', change.filter(Boolean).join(' → ')];
}
