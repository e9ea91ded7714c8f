import type { Config, SettingKey } from './config.ts';
import type { Kind } from './kind.ts';

export interface Setting<Key extends SettingKey = SettingKey> {
  key: Key;
  env: string;
  /** Alternative names of other programs and earlier releases; the own name wins. */
  aliases?: readonly string[];
  kind: Kind;
  /** Placeholder of the value in `--help`. */
  placeholder: string;
  /** Default; may depend on settings above it in the table. */
  fallback: (known: Config) => Config[Key];
  fallbackText: string;
  /** A secret has no flag, since argv is readable by other users, but may be in a file. */
  secret?: true;
  /** Used by server roles or by client commands. */
  group: 'server' | 'client';
  meaning: string;
}

export function named<Key extends SettingKey>(
  key: Key,
  env: string,
  group: Setting['group'],
  placeholder: string,
): Pick<Setting<Key>, 'key' | 'env' | 'group' | 'placeholder'> {
  return { key, env, group, placeholder };
}

export function fallback<Value>(value: Value, text = `\`${String(value)}\``) {
  return { fallback: () => value, fallbackText: text };
}
