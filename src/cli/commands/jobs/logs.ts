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
    .summary('print what a job wrote')
    .description(
      'Print what a job wrote, the oldest line first; with --json one document per line.',
    )
    .argument('<id>', 'the id of the job')
    .option('-f, --follow', 'go on with what it writes, until it has ended')
    .option('--attempt <number>', 'only of this attempt', whole)
    .action(async (id: string, { follow, attempt }: Options, command: Command) => {
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      // Following is patient with a server that is away; a wrong address is to be told at once.
      if (follow) await client.get(id);
      let lines = 0;
      for await (const line of client.logs(id, { follow, attempt })) {
        lines += 1;
        if (out.json) out.record(line);
        else out.lines(logText(out, line));
        await out.drained();
      }
      if (lines === 0) out.note('It wrote nothing.');
    });
}
