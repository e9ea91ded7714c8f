import { Argument, type Command } from 'commander';
import { Longshore } from '../../client/index.ts';
import { candidates } from '../options/candidates.ts';
import type { Cli } from '../cli.ts';
import { configOf, outputOf } from '../session.ts';
import { INSTALL_HINTS, type Shell, SHELL_SCRIPTS, SHELLS } from '../text/shell-scripts.ts';

/** Completion is interactive, so a slow server is not waited for. */
const ASK_MS = 400;

export function addCompletion(program: Command, cli: Cli): void {
  program
    .command('completion')
    .summary('complete commands with the tab key')
    .description('Print a script for your shell that completes commands, flags and definitions.')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .action((shell: Shell, _options: unknown, command: Command) => {
      const out = outputOf(cli, command);
      out.lines([SHELL_SCRIPTS[shell].trimEnd()]);
      if (out.isTerminal) out.note('', `To install it: ${INSTALL_HINTS[shell]}`);
    });
  program
    .command('complete', { hidden: true })
    .description('Used by the script of `completion`: print the possible next words.')
    .argument('[words...]', 'the words typed so far; the last may be incomplete')
    .action(async (words: string[], _options: unknown, command: Command) => {
      const found = await candidates(program, words, {
        definitionKeys: async () => await definitionKeys(cli, command),
      });
      outputOf(cli, command).lines(found.map(({ value, about }) => `${value}\t${about}`));
    });
}

async function definitionKeys(cli: Cli, command: Command): Promise<string[]> {
  try {
    const { url, apiKey } = configOf(cli, command, 'client').config;
    const client = new Longshore({ url, apiKey, timeoutMs: ASK_MS, retries: 0 });
    return [...new Set((await client.definitions()).map(({ key }) => key))];
  } catch {
    return [];
  }
}
