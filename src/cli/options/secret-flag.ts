import { CommanderError } from 'commander';
import { fileVariantOf, flagName, SETTINGS } from '../../config/schema.ts';
import { UsageError } from './usage-error.ts';

/** `--database-url` is what anybody would try first: say where a secret goes instead. */
export function secretFlagHint(error: unknown, args: readonly string[]): UsageError | null {
  if (!(error instanceof CommanderError) || error.code !== 'commander.unknownOption') return null;
  for (const setting of SETTINGS) {
    const file = fileVariantOf(setting);
    if (file === null) continue;
    const flag = flagName(setting.key);
    if (args.some((arg) => arg === flag || arg.startsWith(`${flag}=`))) {
      return new UsageError(
        `there is no ${flag}, because everybody can read a command line: ` +
          `set ${setting.env} or ${file} instead`,
      );
    }
  }
  return null;
}
