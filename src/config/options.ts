import { unknownName } from '../core/values/nearest.ts';
import { conflicts } from './conflicts.ts';
import { ConfigError } from './error.ts';
import { parseSetting } from './parse.ts';
import type { Config } from './config.ts';
import { SETTINGS } from './schema.ts';

/**
 * Settings given as values by a program, checked like all others. The environment is ignored: the
 * embedding application decides.
 */
export function configOf(given: Readonly<Record<string, unknown>>, others: string[]): Config {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  const known = [...SETTINGS.map(({ key }) => key as string), ...others];
  for (const name of Object.keys(given)) {
    if (!known.includes(name)) problems.push(unknownName('option', name, known));
  }
  for (const setting of SETTINGS) {
    const value = others.includes(setting.key) ? undefined : given[setting.key];
    if (value !== undefined && value !== null) {
      const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
      const parsed = parseSetting(setting, { text, as: setting.key, origin: 'option' });
      if (parsed.ok) values[setting.key] = parsed.value;
      else problems.push(parsed.problem);
    }
    values[setting.key] ??= setting.fallback(values as unknown as Config);
  }
  const config = values as unknown as Config;
  problems.push(...conflicts(config));
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(config);
}
