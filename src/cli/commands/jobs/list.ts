import type { Command } from 'commander';
import type { Job, JobPage, ListFilter, Longshore } from '../../../client/index.ts';
import { errorRow } from '../../../core/failure/failure-words.ts';
import type { JobState } from '../../../core/job/job.ts';
import { unsearchedWords } from '../../../core/search/unsearched.ts';
import type { Cli } from '../../cli.ts';
import { columns } from '../../text/columns.ts';
import { idCell } from '../../text/id-cell.ts';
import { age, duration } from '../../../core/values/duration.ts';
import { addJobFilter, searchFilter } from '../../options/job-filter-options.ts';
import { noteMisspelt, noteUnknown } from '../../options/known-definition.ts';
import { filterOfView } from '../../options/saved-view.ts';
import type { Output } from '../../text/output.ts';
import { addPage } from '../../options/page-options.ts';
import { clientOf, outputOf } from '../../session.ts';

type Options = ListFilter & { view?: string };

export function addList(program: Command, cli: Cli): void {
  const list = program
    .command('list')
    .summary('list and search jobs')
    .description('List jobs, newest first, one page at a time.');
  addPage(addJobFilter(list))
    .option(
      '--sort <order>',
      '-createdAt (newest first), createdAt; runAt for scheduled or retrying, -priority for queued',
    )
    .option('--view <name>', 'a saved view of jobs; see longshore views')
    .action(async (words: string[], { view, ...options }: Options, command: Command) => {
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      const { q: saved = '', ...kept } = await filterOfView(client, view, cli.clock.now());
      const filter = searchFilter([saved, ...words], { ...kept, ...options });
      const page = await firstMatches(out, client, filter);
      if (out.json) {
        out.document(page);
        return;
      }
      if (page.jobs.length > 0) out.table(table(out, page.jobs, cli.clock.now()));
      else {
        out.note(noneNote(page, filter));
        const unsearched = unsearchedWords(page.unsearched ?? []);
        if (unsearched !== null) out.note(unsearched);
        await noteUnknown(out, client, options.definitionKey);
        await noteMisspelt(out, client, filter.q);
      }
      out.noteMore(page.nextCursor);
    });
}

/** Searches that find nothing are continued by themselves, up to this number of pages. */
const PAGES_MAX = 50;

/** A search reads a limited number of jobs per page, so the first page can be empty. */
async function firstMatches(out: Output, client: Longshore, filter: ListFilter): Promise<JobPage> {
  let page = await client.list(filter);
  for (let n = 1; n < PAGES_MAX && page.jobs.length === 0 && page.nextCursor !== null; n += 1) {
    if (out.isTerminal) out.status(`Searching: ${page.searchedUntil ?? ''}`);
    page = await client.list({ ...filter, cursor: page.nextCursor });
  }
  if (out.isTerminal) out.status('');
  return page;
}

function noneNote({ nextCursor, searchedUntil }: JobPage, { sort }: ListFilter): string {
  if (nextCursor === null) return 'No matching jobs.';
  if (!searchedUntil) return 'No matches so far; not all jobs were searched.';
  const side = sort === 'createdAt' ? 'before' : 'since';
  return `No matches among the jobs created ${side} ${searchedUntil}; others were not searched yet.`;
}

const HEADER = ['ID', 'DEFINITION', 'STATUS', 'ATTEMPT', 'AGE', 'DETAIL'];

function table(out: Output, jobs: readonly Job[], now: Date): string[] {
  const rows = jobs.map((job) => row(job, now, out.width));
  const [header = '', ...lines] = columns([HEADER, ...rows], out.width);
  return [header, ...lines.map((line, index) => paintState(out, line, jobs[index]?.status))];
}

function row(job: Job, now: Date, widthMax: number): string[] {
  return [
    idCell(job.jobId, widthMax),
    job.definitionKey,
    job.status,
    `${job.attempts}/${job.maxAttempts}`,
    age(now.getTime() - Date.parse(job.createdAt)),
    detail(job, now),
  ];
}

function detail(job: Job, now: Date): string {
  if (job.status === 'scheduled' || job.status === 'retrying') {
    const leftMs = job.runAt === null ? 0 : Date.parse(job.runAt) - now.getTime();
    const when = leftMs > 0 ? `in ${duration(leftMs)}` : 'now';
    return job.error === null ? when : `${when}, after ${errorRow(job.error)}`;
  }
  if (job.status === 'suspended') {
    if (job.waitsFor?.jobs) return `waits for its ${job.waitsFor.jobs}`;
    const signal = job.waitsFor?.signal ?? '';
    const leftMs = job.runAt === null ? null : Date.parse(job.runAt) - now.getTime();
    return leftMs === null
      ? `waits for ${signal}`
      : `waits for ${signal}, at most ${duration(leftMs)}`;
  }
  if (job.status === 'running') return job.progress?.message ?? '';
  if (job.error === null || job.status === 'succeeded') return '';
  return errorRow(job.error);
}

const COLOURS = {
  succeeded: 'green',
  failed: 'red',
  cancelled: 'yellow',
  running: 'cyan',
} as const satisfies Partial<Record<JobState, string>>;

/** Coloured after layout, because colour codes have no width. */
function paintState(out: Output, line: string, status: JobState | undefined): string {
  if (status === undefined || !(status in COLOURS)) return line;
  const colour = COLOURS[status as keyof typeof COLOURS];
  return line.replace(`  ${status}`, `  ${out.paint(colour, status)}`);
}
