import type { Command } from 'commander';
import { unknownName } from '../../core/values/nearest.ts';
import { UsageError } from './usage-error.ts';
import { toCall } from '../text/next-command.ts';

/** The most specific command that the arguments name. */
export function calledCommand(program: Command, args: readonly string[]): Command {
  let command = program;
  for (const word of wordsOf(args)) {
    const next = command.commands.find((one) => one.name() === word);
    if (next) command = next;
  }
  return command;
}

/** Commander prints the general help for `help enqeue` without an error. */
export function refuseUnknownHelp(program: Command, args: readonly string[]): void {
  let command = program;
  let asked = false;
  for (const word of wordsOf(args)) {
    if (word === 'help' && command.commands.length > 0) {
      asked = true;
      continue;
    }
    const next = command.commands.find((one) => one.name() === word);
    if (next) command = next;
    else if (asked && command.commands.length > 0) {
      const names = command.commands.map((one) => one.name());
      const words = unknownName('command', word, names);
      throw new UsageError(
        words.includes(': ') ? words : `${words}: ${toCall('--help')} lists all`,
      );
    } else return;
  }
}

/** Commander knows the help of a command, not of a subcommand: `help bulk retry`. */
export function helpOfSubcommand(args: readonly string[]): readonly string[] {
  const [first, ...names] = wordsOf(args);
  return first === 'help' && names.length > 1 ? [...names, '--help'] : args;
}

function wordsOf(args: readonly string[]): string[] {
  return args.filter((arg) => !arg.startsWith('-'));
}
