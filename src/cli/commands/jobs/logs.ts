import type { Command } from 'commander';
import type { Cli } from '../../cli.ts';
import { type Longshore, NotFound } from '../../../client/index.ts';
import { idCell } from '../../text/id-cell.ts';
import type { Output } from '../../text/output.ts';
import { definitionOption } from '../../options/definition-option.ts';
import { UsageError } from '../../options/usage-error.ts';
import { logText } from '../../text/jobs/log-text.ts';
import { findJobId } from '../../options/find-id.ts';
import { whole } from '../../options/option-values.ts';
import { clientOf, outputOf } from '../../session.ts';

interface Options {
  follow?: true;
  attempt?: number;
  definitionKey?: string;
}

export function addLogs(program: Command, cli: Cli): void {
  program
    .command('logs')
    .summary('print the log of a job, or of all jobs of a definition')
    .description(
      'Print the log of a job, oldest line first; with --json one document per line. With ' +
        '--definition, print the newest lines of its running and recent jobs.',
    )
    .argument('[id]', 'the id of the job')
    .addOption(definitionOption('the log of all jobs of this definition'))
    .option('-f, --follow', 'follow the log until the job finishes; of a definition, until Ctrl-C')
    .option('--attempt <number>', 'only of this attempt', whole)
    .action(async (typed: string | undefined, options: Options, command: Command) => {
      const { follow, attempt, definitionKey } = options;
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      if ((typed === undefined) === (definitionKey === undefined)) {
        throw new UsageError('give the id of a job, or --definition');
      }
      if (definitionKey !== undefined) {
        if (attempt !== undefined) throw new UsageError('--attempt needs the id of a job');
        return await printDefinitionLogs(out, client, definitionKey, follow ?? false);
      }
      const id = await findJobId(client, typed ?? '').catch((error: unknown) => {
        if (!(error instanceof NotFound)) throw error;
        const all = `For all jobs of a definition: ${out.next(`logs --definition ${typed}`)}`;
        throw new NotFound(error.status, error.code, `${error.message}. ${all}`);
      });
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

/** Each line begins with the id of its job. */
async function printDefinitionLogs(
  out: Output,
  client: Longshore,
  key: string,
  follow: boolean,
): Promise<void> {
  let lines = 0;
  for await (const line of client.definitionLogs(key, { follow })) {
    lines += 1;
    const job = idCell(line.jobId, out.width);
    if (out.json) out.record(line);
    else out.lines(logText(out, line).map((text) => `${job} ${text}`));
    await out.drained();
  }
  if (lines === 0) out.note('No log output.');
}
