import type { Command } from 'commander';
import type { Bulk, BulkFilter, BulkOptions } from '../../../client/index.ts';
import type { BulkAction } from '../../../core/job/bulk.ts';
import { bulkSentence, bulkTable, type BulkWork, startMany } from '../../text/bulk-text.ts';
import type { Cli } from '../../cli.ts';
import { states } from '../../options/option-values.ts';
import { addPage, type PageFlags } from '../../options/page-options.ts';
import { readParams } from '../../options/params-argument.ts';
import { addHow, addWork } from '../../options/retry-options.ts';
import { clientOf, outputOf } from '../../session.ts';

type Flags = BulkFilter & Omit<BulkOptions, 'params'> & { params?: string } & BulkWork;

/** One thing done to many jobs. */
export function addBulk(program: Command, cli: Cli): void {
  const bulk = program
    .command('bulk')
    .summary('cancel, retry or delete many jobs')
    .description('Do one thing to all jobs that match, in the background; nothing is left out.');

  for (const [action, description] of [
    [
      'cancel',
      'Cancel all jobs that match: those that wait end, those that run are asked to stop.',
    ],
    ['retry', 'Retry all jobs that match; those that failed, unless --status says otherwise.'],
    ['delete', 'Delete all jobs that match and have ended, with all that is known of them.'],
  ] as const satisfies [BulkAction, string][]) {
    const command = bulk.command(action).description(description);
    addFilter(command);
    if (action === 'retry') addHow(command);
    addWork(command).action(async (flags: Flags, own: Command) => {
      const { preview, yes, wait, params, mode, runAt, ratePerSecond, ...filter } = flags;
      const other = await readParams(params, cli.stdin);
      const how = { mode, runAt, ratePerSecond, ...(other !== undefined && { params: other }) };
      const client = clientOf(cli, own);
      await startMany(cli, outputOf(cli, own), client, {
        action,
        work: { preview, yes, wait },
        preview: async () => await client.bulk.preview(action, filter),
        start: async () => await client.bulk.start(action, filter, how),
      });
    });
  }

  const list = bulk.command('list').description('List bulk actions, the newest first.');
  addPage(list).action(async (flags: PageFlags, command: Command) => {
    const out = outputOf(cli, command);
    const page = await clientOf(cli, command).bulk.list(flags);
    if (out.json) return out.document(page);
    if (page.bulks.length > 0) out.table(bulkTable(page.bulks, cli.clock.now(), out.width));
    else out.note('There are no bulk actions.');
    out.noteMore(page.nextCursor);
  });

  for (const [verb, description] of [
    ['show', 'Show how far a bulk action has come.'],
    ['abort', 'Stop a bulk action; what is done stays done.'],
  ] as const) {
    bulk
      .command(verb)
      .description(description)
      .argument('<id>', 'the id of the bulk action')
      .action(async (id: string, _options: unknown, command: Command) => {
        const out = outputOf(cli, command);
        const { bulk: bulks } = clientOf(cli, command);
        const found: Bulk = verb === 'show' ? await bulks.get(id) : await bulks.abort(id);
        if (out.json) out.document(found);
        else out.lines([bulkSentence(found)]);
      });
  }
}

function addFilter(command: Command): void {
  command
    .option(
      '--status <status>',
      'only in this state; may be repeated or listed with commas',
      states,
    )
    .option('--definition-key <key>', 'only of this definition')
    .option('--tag <tag>', 'only with this tag')
    .option('--error-code <code>', 'only if the latest failure has this code')
    .option('--fingerprint <fingerprint>', 'only of this group: see longshore dlq groups')
    .option('--created-after <time>', 'only made at this time or later')
    .option('--created-before <time>', 'only made before this time')
    .option('--run-after <time>', 'only waiting for this time or a later one')
    .option('--run-before <time>', 'only waiting for a time before this one')
    .option('--finished-after <time>', 'only ended at this time or later')
    .option('--finished-before <time>', 'only ended before this time')
    .option('--q <text>', 'only with this text in the error message or in the params');
}
