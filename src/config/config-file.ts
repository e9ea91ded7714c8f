import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { unknownName } from '../core/values/nearest.ts';
import { SETTINGS } from './schema.ts';

export const CONFIG_FILE = 'longshore.config.json';

/** Settings of the optional file in the working directory, as text; adds to `problems`. */
export function readConfigFile(directory: string, problems: string[]): Map<string, string> {
  const values = new Map<string, string>();
  const parsed = readJson(join(directory, CONFIG_FILE), problems);
  if (parsed === undefined) return values;
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    problems.push(`${CONFIG_FILE} must contain one JSON object`);
    return values;
  }
  const known: string[] = SETTINGS.map((setting) => setting.key);
  for (const [key, value] of Object.entries(parsed)) {
    if (!known.includes(key)) {
      problems.push(`${CONFIG_FILE}: ${unknownName('key', key, known)}`);
    } else if (typeof value === 'string' || typeof value === 'number') {
      values.set(key, String(value));
    } else {
      problems.push(`${CONFIG_FILE}: "${key}" must be a string or a number`);
    }
  }
  refuseOpenSecrets(join(directory, CONFIG_FILE), values, problems);
  return values;
}

/** Keys of secrets in the file of this directory. */
export function secretsInFile(directory: string): string[] {
  const values = readConfigFile(directory, []);
  return SETTINGS.filter(({ key, secret }) => secret && values.has(key)).map(({ key }) => key);
}

/** Job processes with their own users count as other users. */
function refuseOpenSecrets(path: string, values: Map<string, string>, problems: string[]): void {
  const [secret] = SETTINGS.filter(({ key, secret: hidden }) => hidden && values.has(key));
  if (!secret || process.platform === 'win32') return;
  if (((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) === 0) return;
  problems.push(
    `${CONFIG_FILE} contains a secret ("${secret.key}") and is readable by other users: ` +
      `run chmod 600 ${CONFIG_FILE}, or set ${secret.env} instead`,
  );
}

function readJson(path: string, problems: string[]): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    problems.push(`${CONFIG_FILE}: cannot be read: ${(error as Error).message}`);
    return undefined;
  }
  try {
    return JSON.parse(text.replace(/^\uFEFF/, '')) as unknown;
  } catch (error) {
    problems.push(`${CONFIG_FILE} is not valid JSON: ${(error as Error).message}`);
    return undefined;
  }
}
