import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { unknownName } from '../core/values/nearest.ts';
import type { Written } from './parse.ts';
import { CHILD_VARIABLES, fileVariantOf, type Setting, SETTINGS } from './schema.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables of this process, for a command that starts another program. */
export function ownEnvironment(): Environment {
  return process.env;
}

/** The setting's own name, then its file variant, then its aliases. Empty means not set. */
export function findInEnvironment(
  setting: Setting,
  env: Environment,
  directory: string,
  problems: string[],
): Written | null {
  const own = valueOf(env, setting.env);
  const fileName = fileVariantOf(setting);
  const path = fileName === null ? null : valueOf(env, fileName);
  if (fileName !== null && path !== null) {
    if (own !== null) {
      problems.push(`${setting.env} and ${fileName} are both set: keep one of them`);
      return null;
    }
    return readSecret(fileName, resolve(directory, path), problems);
  }
  if (own !== null) return writtenIn(setting.env, own);
  for (const alias of setting.aliases ?? []) {
    const text = valueOf(env, alias);
    if (text !== null) return writtenIn(alias, text);
  }
  return null;
}

/** A misspelt variable is rejected; otherwise a default would apply silently. */
export function unknownVariables(env: Environment): string[] {
  const known = SETTINGS.flatMap((setting) => [setting.env, fileVariantOf(setting) ?? []].flat());
  return Object.keys(env)
    .filter((name) => name.startsWith('LONGSHORE_') && valueOf(env, name) !== null)
    .filter((name) => !known.includes(name) && !CHILD_VARIABLES.includes(name))
    .map((name) => unknownName('variable', name, known));
}

function readSecret(name: string, path: string, problems: string[]): Written | null {
  try {
    // Editors and `echo` append a newline that is not part of the secret.
    return writtenIn(name, readFileSync(path, 'utf8').replace(/\r?\n$/, ''));
  } catch (error) {
    problems.push(`${name}: cannot be read: ${(error as Error).message}`);
    return null;
  }
}

function writtenIn(name: string, text: string): Written {
  return { text, as: name, origin: `env ${name}` };
}

function valueOf(env: Environment, name: string): string | null {
  const value = env[name];
  return value === undefined || value === '' || isServiceLink(name, value) ? null : value;
}

/**
 * Kubernetes sets variables for each Service: one called `longshore-api` sets
 * LONGSHORE_API_SERVICE_HOST, LONGSHORE_API_PORT=tcp://… and more. They are ignored.
 */
function isServiceLink(name: string, value: string): boolean {
  if (!name.startsWith('LONGSHORE_')) return false;
  if (/_SERVICE_(HOST|PORT)(_[A-Z0-9_]+)?$/.test(name)) return true;
  if (/_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name)) return true;
  return name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value);
}
