import type { Command } from 'commander';
import type { Cli } from '../../cli.ts';
import { logText } from '../../text/log-text.ts';
import { whole } from '../../options/option-values.ts';
import { clientOf, outputOf } from '../../session.ts';

interface Options {
  follow?: true;
  attempt?: number;
}

export function addLogs(program: Command, cli: Cli): void {
  program
    .command('logs')
    .summary('print the log of a job')
    .description('Print the log of a job, oldest line first; with --json one document per line.')
    .argument('<id>', 'the id of the job')
    .option('-f, --follow', 'follow the log until the job finishes')
    .option('--attempt <number>', 'only of this attempt', whole)
    .action(async (id: string, { follow, attempt }: Options, command: Command) => {
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      // Following retries an unreachable server; a wrong URL is reported at once.
      if (follow) await client.get(id);
      let lines = 0;
      for await (const line of client.logs(id, { follow, attempt })) {
        lines += 1;
        if (out.json) out.record(line);
        else out.lines(logText(out, line));
        await out.drained();
      }
      if (lines === 0) out.note('No log output.');
    });
}
