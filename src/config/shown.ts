import type { SettingView } from '../core/views/setting-view.ts';
import type { Config } from './config.ts';
import { SETTINGS } from './schema.ts';

/** What those may see who look after the server from elsewhere: everything but secrets. */
export function shownSettings(config: Config): SettingView[] {
  return SETTINGS.filter(({ group, secret }) => group === 'server' && !secret).map(
    ({ env, key, meaning }) => ({ name: env, value: config[key], meaning }),
  );
}
