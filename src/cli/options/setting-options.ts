import { type Command, Option } from 'commander';
import type { SettingKey } from '../../config/config.ts';
import { flagOf, type Setting, SETTINGS } from '../../config/schema.ts';

/** Gives a command the flags of the server's settings: all of them, or those it names. */
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
  return new Option(`${flag} <${setting.placeholder}>`, help);
}
