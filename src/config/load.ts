import { CONFIG_FILE, readConfigFile } from './config-file.ts';
import { conflicts } from './conflicts.ts';
import { type Environment, findInEnvironment, unknownVariables } from './environment.ts';
import { ConfigError } from './error.ts';
import { parseSetting, type Written } from './parse.ts';
import type { Config, SettingKey } from './config.ts';
import { flagOf, type Setting, SETTINGS } from './schema.ts';

export interface Sources {
  /** Flags, as text. */
  flags?: Partial<Record<SettingKey, string>>;
  env?: Environment;
  /** Directory of the optional file. */
  directory?: string;
  /** A client ignores invalid server settings, such as a DATABASE_URL of another program. */
  reader?: 'server' | 'client';
}

export interface LoadedConfig {
  config: Readonly<Config>;
  /** Source of each value: "flag --port", "env LONGSHORE_PORT", "file …" or "default". */
  origins: Readonly<Record<SettingKey, string>>;
}

/** Without a URL the client uses host and port of the server settings. */
const CLIENT_READS: readonly SettingKey[] = ['host', 'port', 'url', 'apiKey', 'tenant'];

/** Precedence: flags, environment, file, defaults. Reports all problems together. */
export function loadConfig(sources: Sources = {}): LoadedConfig {
  const { flags = {}, env = process.env, directory = process.cwd(), reader } = sources;
  const problems: string[] = unknownVariables(env);
  const file = readConfigFile(directory, problems);
  const values: Record<string, unknown> = {};
  const origins: Record<string, string> = {};

  for (const setting of SETTINGS) {
    const { key } = setting;
    const minded = reader !== 'client' || CLIENT_READS.includes(key) ? problems : [];
    const written =
      writtenAsFlag(setting, flags) ??
      findInEnvironment(setting, env, directory, minded) ??
      writtenInFile(setting, file);
    if (written !== null) {
      const parsed = parseSetting(setting, written);
      if (parsed.ok) values[key] = parsed.value;
      else minded.push(parsed.problem);
    }
    // An invalid value keeps its default, so that one mistake is reported once.
    values[key] ??= setting.fallback(values as unknown as Config);
    origins[key] = written?.origin ?? 'default';
  }

  const config = values as unknown as Config;
  if (reader !== 'client') problems.push(...conflicts(config));
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    config: Object.freeze(config),
    origins: Object.freeze(origins as Record<SettingKey, string>),
  };
}

function writtenAsFlag(setting: Setting, flags: NonNullable<Sources['flags']>): Written | null {
  const flag = flagOf(setting);
  const text = flags[setting.key];
  return flag === null || text === undefined ? null : { text, as: flag, origin: `flag ${flag}` };
}

function writtenInFile({ key }: Setting, file: ReadonlyMap<string, string>): Written | null {
  const text = file.get(key);
  if (text === undefined) return null;
  return { text, as: `${CONFIG_FILE}: "${key}"`, origin: `file ${CONFIG_FILE}` };
}
