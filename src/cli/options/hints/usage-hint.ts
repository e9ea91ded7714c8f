import { type Command, CommanderError } from 'commander';
import { unknownName } from '../../../core/values/nearest.ts';
import { toCall } from '../../text/next-command.ts';
import { UsageError } from '../usage-error.ts';

/** A refusal of the command line, with what was expected instead. */
export function usageHint(error: unknown, command: Command): UsageError | null {
  if (!(error instanceof CommanderError)) return null;
  switch (error.code) {
    case 'commander.missingArgument':
    case 'commander.missingMandatoryOptionValue':
      return new UsageError(`${missingOf(error)}: ${callOf(command)}`);
    case 'commander.unknownCommand':
      return error.message.includes('Did you mean') ? null : unknownCommand(error, command);
    default:
      return null;
  }
}

/** "error: missing required argument 'id'" and "error: required option '--from <url>' not specified". */
function missingOf({ message }: CommanderError): string {
  const name = /'(.*)'/.exec(message)?.[1] ?? '';
  return name.startsWith('-') ? `${name} is missing` : `<${name}> is missing`;
}

/** How to call it, with all that it requires. */
function callOf(command: Command): string {
  const path: string[] = [];
  for (let one: Command | null = command; one; one = one.parent) path.unshift(one.name());
  const named = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  const options = command.options.filter((option) => option.mandatory).map(({ flags }) => flags);
  return ['npx', ...path, ...named, ...options].join(' ');
}

function unknownCommand({ message }: CommanderError, command: Command): UsageError {
  const typed = /'(.*)'/.exec(message)?.[1] ?? '';
  if (command.parent) {
    const names = command.commands.map((one) => one.name()).filter((name) => name !== 'help');
    return new UsageError(unknownName('command', typed, names));
  }
  return new UsageError(`unknown command "${typed}": ${toCall('--help')} lists all`);
}
