import type { Command } from 'commander';
import { ProblemError } from '../client/index.ts';

/** Translates an error of the server: from request fields and headers to flags and variables. */
export function inOwnWords(error: unknown, command: Command, url: () => string): unknown {
  if (!(error instanceof ProblemError)) return error;
  const { status, code, errors, retryAfterMs } = error;
  if (status === 401) {
    const detail = `the server ${url()} requires a valid API key: set LONGSHORE_API_KEY`;
    return new ProblemError(status, code, detail, errors, retryAfterMs);
  }
  let { detail } = error;
  const renamed = errors.map(({ pointer, detail: why }) => {
    const name = nameOf(pointer, command);
    if (detail.startsWith(`${pointer}: `)) detail = name + detail.slice(pointer.length);
    else detail = detail.replace(`; ${pointer}: ${why}`, () => `; ${name}: ${why}`);
    return { pointer: name, detail: why.replace(URL_ADVICE, '') };
  });
  return new ProblemError(status, code, detail.replaceAll(URL_ADVICE, ''), renamed, retryAfterMs);
}

/** Fields whose flag has another name. */
const FLAGS_OF: Record<string, string> = { to: 'email' };

/** Who types a flag writes no URL. */
const URL_ADVICE = ' (in a URL write + as %2B)';

function nameOf(pointer: string, command: Command): string {
  return (
    searchArgument(pointer, command) ??
    flagOf(pointer, command) ??
    argumentOf(pointer, command) ??
    pointer
  );
}

/** The search that the user wrote as arguments; the server calls it "/q". */
function searchArgument(pointer: string, command: Command): string | null {
  const takesSearch = command.registeredArguments.some((one) => one.name() === 'search');
  if (pointer !== '/q' || !takesSearch || command.args.length === 0) return null;
  return `the search ${JSON.stringify(command.args.join(' '))}`;
}

/**
 * "/runAt" is --run-at, "/tags/0" is --tag and "/params/name" is "--params /name", where the command has
 * such a flag.
 */
function flagOf(pointer: string, command: Command): string | null {
  const [, field = '', ...inside] = pointer.split('/');
  const names = [field, field.replace(/s$/, ''), FLAGS_OF[field]];
  const option = command.options.find((one) => names.includes(one.attributeName()));
  if (!option?.long) return null;
  const isArgumentToo = command.registeredArguments.some((one) => one.name() === field);
  if (isArgumentToo && command.getOptionValue(option.attributeName()) === undefined) return null;
  const isListItem = inside.length === 1 && /^\d+$/.test(inside[0] ?? '');
  return inside.length === 0 || isListItem ? option.long : `${option.long} /${inside.join('/')}`;
}

/** "/cron" is <cron>, "/definitionKey" is <key> and "/params/name" is "params /name". */
function argumentOf(pointer: string, command: Command): string | null {
  const [, field = '', ...inside] = pointer.split('/');
  const name = field === 'definitionKey' ? 'key' : field;
  if (!command.registeredArguments.some((one) => one.name() === name)) return null;
  return inside.length === 0 ? `<${name}>` : `${name} /${inside.join('/')}`;
}
