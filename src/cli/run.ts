import { CommanderError } from 'commander';
import { calledCommand, refuseUnknownHelp } from './options/called-command.ts';
import type { Cli } from './cli.ts';
import { exitCode, exitNameOf } from './exit-codes.ts';
import { createProgram } from './program.ts';
import { errorLines } from './report.ts';
import { inOwnWords } from './server-refusal.ts';
import { secretFlagHint } from './options/secret-flag.ts';

/** Runs one command line and answers with its exit code; every error is reported here. */
export async function runCli(cli: Cli, args: readonly string[]): Promise<number> {
  const program = createProgram(cli);
  try {
    refuseUnknownHelp(program, args);
    await program.parseAsync([...args], { from: 'user' });
    return cli.exitCode;
  } catch (error) {
    const code = exitCode(exitNameOf(error));
    // Help has already been printed: because it was asked for, or because no command was given.
    if (error instanceof CommanderError && (code === 0 || error.code === 'commander.help')) {
      return code;
    }
    const asJson = args.includes('--json');
    // A program gets what the server said, word for word.
    const said = asJson ? error : inOwnWords(error, calledCommand(program, args));
    cli.stderr.write(`${errorLines(secretFlagHint(error, args) ?? said, asJson).join('\n')}\n`);
    return code;
  }
}
