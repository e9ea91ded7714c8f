import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { jobText } from '../job-text.ts';
import { clientOf, outputOf } from '../session.ts';

export function addShow(program: Command, cli: Cli): void {
  program
    .command('show')
    .summary('show one job')
    .description('Show how a job is, in a sentence, and everything that is known of it.')
    .argument('<id>', 'the id of the job')
    .action(async (id: string, _options: unknown, command: Command) => {
      const out = outputOf(cli, command);
      const job = await clientOf(cli, command).get(id);
      if (out.json) out.document(job);
      else out.lines(jobText(job, cli.clock.now()));
    });
}
