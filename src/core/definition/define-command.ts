import {
  branded,
  hooksOf,
  type JobDefinition,
  type JobHooks,
  publishedSchema,
  schemaOf,
  type StandardSchema,
} from './define.ts';
import { definitionInfo } from './check-definition.ts';
import { DefinitionError, type DefinitionPolicy } from './definition.ts';
import { POLICY_OPTIONS } from './policy-fields.ts';
import { unknownName } from '../values/nearest.ts';
import { HOOKS, type HookName } from '../views/history.ts';

/**
 * A job that is a program in any language. It gets its params as JSON on stdin and in the file
 * `LONGSHORE_PARAMS_FILE`. It may write messages to file descriptor 3, one JSON document per line:
 * `{"progress":0.4,"message":"…"}`, `{"event":"type","payload":…}`, `{"heartbeat":true}`,
 * `{"result":…}` and `{"error":{"code","message","retryAfterMs"}}`. Exit code 0 is success, any other a HANDLER_ERROR.
 */
export interface CommandOptions
  extends Omit<DefinitionPolicy, 'isolation'>, Omit<JobHooks, 'onStart'> {
  /** The program and its arguments, without a shell. */
  command: readonly [program: string, ...args: string[]];
  /** The working directory, relative to the file of the definition, whose folder is the default. */
  cwd?: string | undefined;
}

const KNOWN_OPTIONS: readonly string[] = [
  ...POLICY_OPTIONS.filter((name) => name !== 'isolation'),
  'params',
  'command',
  'cwd',
  // `onStart` runs in the process of the job, which has no JavaScript here.
  ...HOOKS.filter((hook) => hook !== 'onStart'),
];

export function defineCommand<Input = unknown>(
  options: CommandOptions & { params?: StandardSchema<unknown, Input> },
): JobDefinition<Input> {
  for (const name of Object.keys(options)) {
    if (!KNOWN_OPTIONS.includes(name)) {
      throw new DefinitionError(unknownName('option of defineCommand', name, KNOWN_OPTIONS));
    }
  }
  const { key, command, cwd = null } = options;
  if (!Array.isArray(command) || command.length === 0 || !command.every(isArgument)) {
    throw new DefinitionError(
      `${key}: command must be a list of texts, the program first: ['python3', 'report.py']`,
    );
  }
  if (cwd !== null && typeof cwd !== 'string') {
    throw new DefinitionError(`${key}: cwd must be a path`);
  }
  const schema = schemaOf(key, options.params);
  const hooks = hooksOf(options);
  const info = definitionInfo(options, {
    paramsSchema: publishedSchema(schema),
    hooks: Object.keys(hooks) as HookName[],
    command: { argv: [...command], cwd },
  });
  return branded({ info, schema, hooks, run: notHere });
}

/** NUL would truncate an argument. */
function isArgument(argument: unknown): argument is string {
  return typeof argument === 'string' && argument !== '' && !argument.includes('\u0000');
}

/** The worker starts the program itself; this is for tests that call `run`. */
function notHere(): never {
  throw new Error('a command runs in a worker; run cannot be called');
}
