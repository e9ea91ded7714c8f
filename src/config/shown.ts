import type { SettingView } from '../core/views/setting-view.ts';
import type { Config } from './config.ts';
import { SETTINGS } from './schema.ts';

/** Settings without secrets, for the API. */
export function shownSettings(config: Config): SettingView[] {
  return SETTINGS.filter(({ group, secret }) => group === 'server' && !secret).map(
    ({ env, key, meaning, fallback }) => ({
      name: env,
      value: config[key],
      isDefault: config[key] === fallback(config),
      meaning,
    }),
  );
}
