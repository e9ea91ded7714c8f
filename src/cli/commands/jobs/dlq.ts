import { errorRow, failureWords } from '../../../core/failure/failure-words.ts';
import type { Command } from 'commander';
import type {
  BulkOptions,
  DeadLetter,
  DeadLetterFilter,
  DeadLetterGroup,
  DeadLetterPage,
  Longshore,
} from '../../../client/index.ts';
import { type BulkWork, startMany } from '../../text/bulk-text.ts';
import type { Cli } from '../../cli.ts';
import { columns } from '../../text/columns.ts';
import { idCell } from '../../text/id-cell.ts';
import { unsearchedWords } from '../../../core/search/unsearched.ts';
import { age } from '../../../core/values/duration.ts';
import { definitionOption } from '../../options/definition-option.ts';
import { noteMisspelt, noteUnknown } from '../../options/known-definition.ts';
import { whole } from '../../options/option-values.ts';
import { addPage } from '../../options/page-options.ts';
import { readParams } from '../../options/params-argument.ts';
import type { RetryVersion } from '../../../core/failure/retry.ts';
import { addHow, addWork } from '../../options/retry-options.ts';
import { clientOf, outputOf } from '../../session.ts';

type RetryFlags = DeadLetterFilter &
  Omit<BulkOptions, 'params' | 'version'> & { params?: string; code?: RetryVersion } & BulkWork;

export function addDlq(program: Command, cli: Cli): void {
  const dlq = program
    .command('dlq')
    .aliases(['dead-letters', 'errors'])
    .summary('list and retry dead letters')
    .description('List, group and retry dead letters: jobs that failed for good.');

  const list = dlq.command('list').description('List dead letters, latest failure first.');
  addSearch(addWindow(list));
  addPage(list).action(async (options: DeadLetterFilter, command: Command) => {
    const out = outputOf(cli, command);
    const client = clientOf(cli, command);
    const page = await firstLetters(client, options);
    if (out.json) return out.document(page);
    if (page.jobs.length > 0) out.table(letterTable(page.jobs, cli.clock.now(), out.width));
    else {
      out.note(noneNote(page));
      const unsearched = unsearchedWords(page.unsearched ?? []);
      if (unsearched !== null) out.note(unsearched);
      await noteUnknown(out, client, options.definitionKey);
      await noteMisspelt(out, client, options.q);
    }
    out.noteMore(page.nextCursor);
  });

  const groups = dlq
    .command('groups')
    .description('Group dead letters by error, most frequent first.');
  addWindow(groups)
    .option('--limit <number>', 'maximum number of groups: 1 to 1000, default 100', whole)
    .action(async (options: DeadLetterFilter, command: Command) => {
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      const answer = await client.deadLetters.groups(options);
      if (out.json) return out.document(answer);
      if (answer.groups.length > 0) {
        out.table(groupTable(answer.groups, cli.clock.now(), out.width));
      } else {
        out.note('No dead letters.');
        await noteUnknown(out, client, options.definitionKey);
      }
      if (!answer.complete) out.note('More groups exist: narrow the search or raise --limit.');
    });

  const retry = dlq
    .command('retry')
    .description('Retry all matching dead letters; without a filter, all of them.');
  addSearch(addHow(addWindow(retry)));
  addWork(retry).action(async (flags: RetryFlags, command: Command) => {
    const { preview, dryRun, yes, wait, params, mode, runAt, ratePerSecond, code, ...filter } =
      flags;
    const other = await readParams(params, cli.stdin);
    const rest = { ratePerSecond, version: code, ...(other !== undefined && { params: other }) };
    const how = { mode, runAt, ...rest };
    const client = clientOf(cli, command);
    await startMany(cli, outputOf(cli, command), client, {
      action: 'retry',
      work: { preview, dryRun, yes, wait },
      definitionKey: filter.definitionKey,
      preview: async () => await client.deadLetters.previewRetry(filter),
      start: async () => await client.deadLetters.retry(filter, how),
    });
  });
}

function addWindow(command: Command): Command {
  return command
    .addOption(definitionOption('only jobs of this definition'))
    .option('--error-code <code>', 'only jobs with this error code')
    .option(
      '--from <time>',
      'only jobs that failed at this time or later, like 2030-01-31T08:00:00Z',
    )
    .option('--to <time>', 'only jobs that failed before this time');
}

function addSearch(command: Command): void {
  command
    .option('--fingerprint <fingerprint>', 'only jobs of this error group')
    .option('--q <search>', 'only jobs that match this search, as in longshore list');
}

/** Searches that find nothing are continued by themselves, up to this number of pages. */
const PAGES_MAX = 50;

async function firstLetters(client: Longshore, filter: DeadLetterFilter): Promise<DeadLetterPage> {
  let page = await client.deadLetters.list(filter);
  for (let n = 1; n < PAGES_MAX && page.jobs.length === 0 && page.nextCursor !== null; n += 1) {
    page = await client.deadLetters.list({ ...filter, cursor: page.nextCursor });
  }
  return page;
}

function noneNote({ nextCursor, searchedUntil }: DeadLetterPage): string {
  if (nextCursor === null) return 'No matching dead letters.';
  if (!searchedUntil) return 'No matches so far; not all dead letters were searched.';
  return `No matches among the failures since ${searchedUntil}; others were not searched yet.`;
}

const LETTER_HEADER = ['ID', 'DEFINITION', 'FAILED', 'FINGERPRINT', 'ERROR'];

function letterTable(jobs: readonly DeadLetter[], now: Date, widthMax: number): string[] {
  const rows = jobs.map((job) => [
    idCell(job.jobId, widthMax),
    job.definitionKey,
    ago(job.finishedAt ?? job.updatedAt, now),
    job.fingerprint ?? '-',
    job.error === null ? '' : errorRow(job.error),
  ]);
  return columns([LETTER_HEADER, ...rows], widthMax);
}

const GROUP_HEADER = ['COUNT', 'FINGERPRINT', 'FIRST', 'LAST', 'DEFINITIONS', 'ERROR'];

function groupTable(groups: readonly DeadLetterGroup[], now: Date, widthMax: number): string[] {
  const rows = groups.map((group) => [
    `${group.count}${group.countIsExact ? '' : '+'}`,
    group.fingerprint,
    ago(group.firstSeen, now),
    ago(group.lastSeen, now),
    group.definitionKeys.join(','),
    `${group.code} ${failureWords(group, group.count > 1)}`,
  ]);
  return columns([GROUP_HEADER, ...rows], widthMax);
}

function ago(time: string, now: Date): string {
  return age(now.getTime() - Date.parse(time));
}
