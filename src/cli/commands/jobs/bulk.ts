import type { Command } from 'commander';
import type { Bulk, BulkFilter, BulkOptions } from '../../../client/index.ts';
import type { RetryVersion } from '../../../core/failure/retry.ts';
import type { BulkAction } from '../../../core/job/bulk.ts';
import { bulkReport, bulkTable, type BulkWork, startMany } from '../../text/bulk-text.ts';
import type { Cli } from '../../cli.ts';
import { definitionOption } from '../../options/definition-option.ts';
import { findBulkId } from '../../options/find-id.ts';
import { listOf, states } from '../../options/option-values.ts';
import { addPage, type PageFlags } from '../../options/page-options.ts';
import { readParams } from '../../options/params-argument.ts';
import { addHow, addWork } from '../../options/retry-options.ts';
import { clientOf, outputOf } from '../../session.ts';

type Flags = BulkFilter &
  Omit<BulkOptions, 'params' | 'version'> & { params?: string; code?: RetryVersion } & BulkWork;

export function addBulk(program: Command, cli: Cli): void {
  const bulk = program
    .command('bulk')
    .summary('cancel, retry or delete many jobs')
    .description('Cancel, retry or delete all matching jobs in the background.');

  for (const [action, description] of [
    [
      'cancel',
      'Cancel all matching jobs: waiting jobs end at once, running jobs are asked to stop.',
    ],
    ['retry', 'Retry all matching jobs; failed ones unless --status is given.'],
    ['delete', 'Delete all matching jobs that have finished, with their history.'],
  ] as const satisfies [BulkAction, string][]) {
    const command = bulk.command(action).description(description);
    addFilter(command);
    if (action === 'retry') addHow(command);
    addWork(command).action(async (flags: Flags, own: Command) => {
      const { preview, dryRun, yes, wait, params, mode, runAt, ratePerSecond, code, ...filter } =
        flags;
      const other = await readParams(params, cli.stdin);
      const rest = { ratePerSecond, version: code, ...(other !== undefined && { params: other }) };
      const how = { mode, runAt, ...rest };
      const client = clientOf(cli, own);
      await startMany(cli, outputOf(cli, own), client, {
        action,
        work: { preview, dryRun, yes, wait },
        definitionKey: filter.definitionKey,
        preview: async () => await client.bulk.preview(action, filter),
        start: async () => await client.bulk.start(action, filter, how),
      });
    });
  }

  const list = bulk.command('list').description('List bulk actions, newest first.');
  addPage(list).action(async (flags: PageFlags, command: Command) => {
    const out = outputOf(cli, command);
    const page = await clientOf(cli, command).bulk.list(flags);
    if (out.json) return out.document(page);
    if (page.bulks.length > 0) out.table(bulkTable(page.bulks, cli.clock.now(), out.width));
    else out.note('No bulk actions.');
    out.noteMore(page.nextCursor);
  });

  for (const [verb, description] of [
    ['show', 'Show the progress of a bulk action.'],
    ['abort', 'Stop a bulk action; jobs already changed stay changed.'],
  ] as const) {
    bulk
      .command(verb)
      .description(description)
      .argument('<id>', 'the id of the bulk action')
      .action(async (typed: string, _options: unknown, command: Command) => {
        const out = outputOf(cli, command);
        const client = clientOf(cli, command);
        const { bulk: bulks } = client;
        const id = await findBulkId(client, typed);
        const found: Bulk = verb === 'show' ? await bulks.get(id) : await bulks.abort(id);
        if (out.json) out.document(found);
        else out.lines([await bulkReport(client, found, out.next)]);
      });
  }
}

function addFilter(command: Command): void {
  command
    .option(
      '--status <status>',
      'only jobs in this state; may be repeated or comma-separated',
      states,
    )
    .addOption(definitionOption('only jobs of this definition'))
    .option('--tag <tag>', 'only jobs with this tag')
    .option('--error-code <code>', 'only jobs whose latest error has this code')
    .option(
      '--fingerprint <fingerprint>',
      'only jobs of this error group: see longshore dlq groups',
    )
    .option('--created-after <time>', 'only jobs created at this time or later')
    .option('--created-before <time>', 'only jobs created before this time')
    .option('--run-after <time>', 'only waiting jobs due at this time or later')
    .option('--run-before <time>', 'only waiting jobs due before this time')
    .option('--finished-after <time>', 'only jobs finished at this time or later')
    .option('--finished-before <time>', 'only jobs finished before this time')
    .option('--q <search>', 'only jobs that match this search, as in longshore list')
    .option('--job-ids <ids>', 'only these jobs: ids, repeated or comma-separated', listOf);
}
