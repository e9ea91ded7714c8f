import type { Command } from 'commander';
import type { JobReceipt } from '../../client/index.ts';
import type { Cli } from '../cli.ts';
import { columns } from '../columns.ts';
import { exitCode, exitNameOf } from '../exit-codes.ts';
import type { Output } from '../output.ts';
import { errorLines, type Problem, problemOf } from '../report.ts';
import { clientOf, outputOf } from '../session.ts';

/** `cancel` and `release`: the same thing done to one job after the other. */
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
}

/** One refusal does not stop the others; the exit code is theirs when they all agree, else 1. */
async function changeEach(
  cli: Cli,
  out: Output,
  ids: readonly string[],
  change: (id: string) => Promise<JobReceipt>,
): Promise<void> {
  const answers: (JobReceipt | { jobId: string; problem: Problem })[] = [];
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
