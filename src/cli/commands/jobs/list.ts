import type { Command } from 'commander';
import type { Job, ListFilter } from '../../../client/index.ts';
import type { JobState } from '../../../core/job/job.ts';
import type { Cli } from '../../cli.ts';
import { columns } from '../../text/columns.ts';
import { age, duration } from '../../../core/values/duration.ts';
import { states } from '../../options/option-values.ts';
import type { Output } from '../../text/output.ts';
import { addPage } from '../../options/page-options.ts';
import { clientOf, outputOf } from '../../session.ts';

export function addList(program: Command, cli: Cli): void {
  const list = program
    .command('list')
    .summary('list jobs')
    .description('List jobs, newest first, one page at a time.')
    .option(
      '--status <status>',
      'only jobs in this state; may be repeated or comma-separated',
      states,
    )
    .option('--definition-key <key>', 'only jobs of this definition')
    .option('--tag <tag>', 'only jobs with this tag')
    .option('--error-code <code>', 'only jobs whose latest error has this code')
    .option('--created-after <time>', 'only jobs created at this time or later')
    .option('--created-before <time>', 'only jobs created before this time')
    .option('--run-after <time>', 'only waiting jobs due at this time or later')
    .option('--run-before <time>', 'only waiting jobs due before this time')
    .option('--q <text>', 'only jobs with this text in the error message or params');
  addPage(list)
    .option(
      '--sort <order>',
      '-createdAt (newest first), createdAt; runAt for scheduled or retrying, -priority for queued',
    )
    .action(async (options: ListFilter, command: Command) => {
      const out = outputOf(cli, command);
      const page = await clientOf(cli, command).list(options);
      if (out.json) {
        out.document(page);
        return;
      }
      if (page.jobs.length > 0) out.table(table(out, page.jobs, cli.clock.now()));
      else out.note('No matching jobs.');
      out.noteMore(page.nextCursor);
    });
}

const HEADER = ['ID', 'DEFINITION', 'STATUS', 'ATTEMPT', 'AGE', 'DETAIL'];

function table(out: Output, jobs: readonly Job[], now: Date): string[] {
  const rows = jobs.map((job) => row(job, now));
  const [header = '', ...lines] = columns([HEADER, ...rows], out.width);
  return [header, ...lines.map((line, index) => paintState(out, line, jobs[index]?.status))];
}

function row(job: Job, now: Date): string[] {
  return [
    job.jobId,
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
    return job.error === null ? when : `${when}, after ${job.error.code} ${job.error.message}`;
  }
  if (job.status === 'running') return job.progress?.message ?? '';
  if (job.error === null || job.status === 'succeeded') return '';
  return `${job.error.code} ${job.error.message}`;
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
