import { type Command, Option } from 'commander';
import type { SettingKey } from '../../config/config.ts';
import { flagOf, type Setting, SETTINGS } from '../../config/schema.ts';

/** Adds the flags of the server settings, all or those in `only`. */
export function addServerFlags(command: Command, only?: readonly SettingKey[]): void {
  for (const setting of SETTINGS) {
    if (setting.group !== 'server' || (only && !only.includes(setting.key))) continue;
    const option = settingOption(setting);
    if (option) command.addOption(option);
  }
}

export function settingOption(setting: Setting): Option | null {
  const flag = flagOf(setting);
  if (flag === null) return null;
  const fallback = setting.fallbackText.replaceAll('`', '');
  const help = `${setting.meaning} [${setting.env}, default ${fallback}]`;
  if (setting.key !== 'deployments') return new Option(`${flag} <${setting.placeholder}>`, help);
  return new Option(`${flag} [${setting.placeholder}]`, help).preset('only');
}
