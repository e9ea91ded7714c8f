import { type Command, CommanderError } from 'commander';
import { jsonForPairs } from '../params-argument.ts';
import { UsageError } from '../usage-error.ts';

/** Says what to do about arguments that the command does not take: quote them, or name the option. */
export function excessHint(error: unknown, command: Command): UsageError | null {
  if (!(error instanceof CommanderError) || error.code !== 'commander.excessArguments') return null;
  const advice = adviceOf(command);
  return advice === null
    ? null
    : new UsageError(`${command.name()} takes fewer arguments: ${advice}`);
}

function adviceOf(command: Command): string | null {
  const { args, options, registeredArguments } = command;
  if (registeredArguments.some((argument) => argument.name() === 'cron')) {
    return `put quotes around the cron expression: "*/5 * * * *"`;
  }
  const [extra = ''] = args.slice(registeredArguments.length);
  const has = (flag: string) => options.some(({ long }) => long === flag);
  if (has('--payload')) return 'did you mean --payload JSON?';
  const takesParams = registeredArguments.findIndex((argument) => argument.name() === 'params');
  const asJson = takesParams === -1 ? null : jsonForPairs(args.slice(takesParams));
  if (asJson !== null) return asJson;
  if (args.some((arg) => /^[{[]/.test(arg))) return `put quotes around the JSON: '{"a": 1}'`;
  return has('--definition') ? `did you mean --definition ${extra}?` : null;
}
