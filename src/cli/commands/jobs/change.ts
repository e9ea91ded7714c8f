import type { Command } from 'commander';
import type { RetryMode } from '../../../core/failure/retry.ts';
import type { Cli } from '../../cli.ts';
import { columns } from '../../text/columns.ts';
import { confirm } from '../../options/confirm.ts';
import { exitCode, exitNameOf } from '../../exit-codes.ts';
import type { Output } from '../../text/output.ts';
import { readParams } from '../../options/params-argument.ts';
import { errorLines, type Problem, problemOf } from '../../report.ts';
import { addRetryRequest } from '../../options/retry-options.ts';
import { clientOf, outputOf } from '../../session.ts';

interface RetryFlags {
  mode?: RetryMode;
  runAt?: string;
  params?: string;
}

/** `cancel`, `release`, `retry` and `delete`: the same thing done to one job after the other. */
export function addChanges(program: Command, cli: Cli): void {
  program
    .command('cancel')
    .summary('cancel jobs')
    .description('Cancel jobs: those that wait end at once, those that run are asked to stop.')
    .argument('<id...>', 'the ids of the jobs')
    .action(async (ids: string[], _options: unknown, command: Command) => {
      const client = clientOf(cli, command);
      await changeEach(cli, outputOf(cli, command), ids, (id) => client.cancel(id));
    });
  program
    .command('release')
    .summary('release held jobs')
    .description('Release jobs that were enqueued with --hold.')
    .argument('<id...>', 'the ids of the jobs')
    .action(async (ids: string[], _options: unknown, command: Command) => {
      const client = clientOf(cli, command);
      await changeEach(cli, outputOf(cli, command), ids, (id) => client.release(id));
    });
  const retry = program
    .command('retry')
    .summary('retry failed or cancelled jobs')
    .description(
      'Let jobs run again that failed or were cancelled. For many: longshore bulk retry.',
    )
    .argument('<id...>', 'the ids of the jobs');
  addRetryRequest(retry).action(
    async (ids: string[], { params, ...flags }: RetryFlags, command: Command) => {
      const client = clientOf(cli, command);
      const other = await readParams(params, cli.stdin);
      const options = { ...flags, ...(other !== undefined && { params: other }) };
      await changeEach(cli, outputOf(cli, command), ids, (id) => client.retry(id, options));
    },
  );
  program
    .command('delete')
    .summary('delete jobs that have ended')
    .description('Delete jobs that have ended, with their attempts, events and logs.')
    .argument('<id...>', 'the ids of the jobs')
    .option('--yes', 'do not ask')
    .action(async (ids: string[], { yes }: { yes?: true }, command: Command) => {
      const client = clientOf(cli, command);
      const out = outputOf(cli, command);
      const question = `Delete ${ids.length === 1 ? 'this job' : `${ids.length} jobs`} for good?`;
      if (!yes && !(await confirm(cli, question))) return out.note('Nothing was deleted.');
      await changeEach(cli, out, ids, async (jobId) => {
        await client.delete(jobId);
        return { jobId, status: 'deleted' };
      });
    });
}

interface Changed {
  jobId: string;
  status: string;
}

/** One refusal does not stop the others; the exit code is theirs when they all agree, else 1. */
async function changeEach(
  cli: Cli,
  out: Output,
  ids: readonly string[],
  change: (id: string) => Promise<Changed>,
): Promise<void> {
  const answers: (Changed | { jobId: string; problem: Problem })[] = [];
  const codes = new Set<number>();
  for (const id of ids) {
    try {
      const receipt = await change(id);
      answers.push(receipt);
      if (!out.json) out.lines(columns([[receipt.jobId, receipt.status]]));
    } catch (error) {
      codes.add(exitCode(exitNameOf(error)));
      answers.push({ jobId: id, problem: problemOf(error) });
      out.trouble(...errorLines(error, out.json));
      // The next one would only wait for the same server.
      if (exitNameOf(error) === 'unreachable') break;
    }
  }
  if (out.json) out.document({ jobs: answers });
  const [code = 0, ...others] = codes;
  cli.exitCode = others.length > 0 ? exitCode('failed') : code;
}
