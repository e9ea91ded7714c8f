import type { Command } from 'commander';
import type { JobHandle } from '../../../client/index.ts';
import { printable } from '../../../core/values/printable.ts';
import { sentence } from '../../../core/views/sentence.ts';
import type { Cli } from '../../cli.ts';
import { exitCode } from '../../exit-codes.ts';
import { findJobId } from '../../options/find-id.ts';
import { clientOf, outputOf } from '../../session.ts';
import type { Output } from '../../text/output.ts';

export function addStream(program: Command, cli: Cli): void {
  program
    .command('stream')
    .summary('print the live output of a job')
    .description(
      'Print what a job sends with ctx.stream, until it finishes; exit 0 if it succeeded, else 1. ' +
        'With --json one document per chunk. When the job starts again, its output starts over; ' +
        'a line on stderr says so.',
    )
    .argument('<id>', 'the id of the job')
    .action(async (typed: string, _options: object, command: Command) => {
      const client = clientOf(cli, command);
      const id = await findJobId(client, typed);
      // Following retries an unreachable server; a wrong URL is reported at once.
      await client.get(id);
      await streamJob(cli, outputOf(cli, command), client.handle(id));
    });
}

/** Prints the output of a job until it has ended, and sets the exit code. */
export async function streamJob(cli: Cli, out: Output, handle: JobHandle): Promise<void> {
  cli.onSignal = () => {
    out.note('', `The job continues. Follow it with: ${out.next(`stream ${handle.id}`)}`);
    cli.exit(exitCode('interrupted'));
  };
  let isMidLine = false;
  for await (const { id, text, attempt, startsOver } of handle.stream()) {
    if (out.json) out.record({ id, attempt, text, startsOver });
    else if (startsOver) {
      out.note(`${isMidLine ? '\n' : ''}attempt ${attempt}: the output starts over`);
    } else out.part(text);
    isMidLine = !startsOver && !text.endsWith('\n');
    await out.drained();
  }
  if (!out.json && isMidLine && out.isScreen) out.part('\n');
  const job = await handle.get();
  const words = printable(sentence(job, cli.clock.now()));
  if (job.status === 'succeeded') out.note(words);
  else out.trouble(words);
  cli.exitCode = exitCode(job.status === 'succeeded' ? 'ok' : 'failed');
}
