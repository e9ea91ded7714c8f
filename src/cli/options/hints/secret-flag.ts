import { CommanderError } from 'commander';
import { fileVariantOf, flagName, SETTINGS } from '../../../config/schema.ts';
import { UsageError } from '../usage-error.ts';

/** Explains where a secret goes when it is given as a flag, like `--database-url`. */
export function secretFlagHint(error: unknown, args: readonly string[]): UsageError | null {
  if (!(error instanceof CommanderError) || error.code !== 'commander.unknownOption') return null;
  for (const setting of SETTINGS) {
    const file = fileVariantOf(setting);
    if (file === null) continue;
    const flag = flagName(setting.key);
    if (args.some((arg) => arg === flag || arg.startsWith(`${flag}=`))) {
      return new UsageError(
        `${flag} does not exist, because other users can read the command line: ` +
          `set ${setting.env} or ${file} instead`,
      );
    }
  }
  return null;
}
