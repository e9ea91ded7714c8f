import { CommanderError } from 'commander';
import { calledCommand, helpOfSubcommand, refuseUnknownHelp } from './options/called-command.ts';
import type { Cli } from './cli.ts';
import { exitCode, exitNameOf } from './exit-codes.ts';
import { createProgram } from './program.ts';
import { errorLines } from './report.ts';
import { inOwnWords } from './server-refusal.ts';
import { configOf } from './session.ts';
import { excessHint } from './options/hints/excess-arguments.ts';
import { secretFlagHint } from './options/hints/secret-flag.ts';
import { usageHint } from './options/hints/usage-hint.ts';

/** Runs one command line and returns its exit code; reports all errors. */
export async function runCli(cli: Cli, args: readonly string[]): Promise<number> {
  const program = createProgram(cli);
  try {
    refuseUnknownHelp(program, args);
    await program.parseAsync([...helpOfSubcommand(args)], { from: 'user' });
    return cli.exitCode;
  } catch (error) {
    const code = exitCode(exitNameOf(error));
    // Help was already printed.
    if (error instanceof CommanderError && (code === 0 || error.code === 'commander.help')) {
      return code;
    }
    const asJson = args.includes('--json');
    // With --json the server's error is printed unchanged.
    const command = calledCommand(program, args);
    const url = () => configOf(cli, command, 'client').config.url;
    const said = asJson ? error : inOwnWords(error, command, url);
    const hint =
      secretFlagHint(error, args) ?? excessHint(error, command) ?? usageHint(error, command);
    cli.stderr.write(`${errorLines(hint ?? said, asJson).join('\n')}\n`);
    return code;
  }
}
