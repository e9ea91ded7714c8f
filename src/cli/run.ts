import { CommanderError } from 'commander';
import type { Cli } from './cli.ts';
import { exitCode, exitNameOf } from './exit-codes.ts';
import { createProgram } from './program.ts';
import { errorLines } from './report.ts';
import { secretFlagHint } from './secret-flag.ts';

/** Runs one command line and answers with its exit code; every error is reported here. */
export async function runCli(cli: Cli, args: readonly string[]): Promise<number> {
  const program = createProgram(cli);
  try {
    await program.parseAsync([...args], { from: 'user' });
    return cli.exitCode;
  } catch (error) {
    const code = exitCode(exitNameOf(error));
    // Help has already been printed: because it was asked for, or because no command was given.
    if (error instanceof CommanderError && (code === 0 || error.code === 'commander.help')) {
      return code;
    }
    const asJson = args.includes('--json');
    cli.stderr.write(`${errorLines(secretFlagHint(error, args) ?? error, asJson).join('\n')}\n`);
    return code;
  }
}
