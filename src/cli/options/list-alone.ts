import type { Command } from 'commander';
import { unknownName } from '../../core/values/nearest.ts';
import { UsageError } from './usage-error.ts';

/**
 * `longshore dlq` alone lists, like `longshore workers`. A misspelt subcommand is reported as such.
 */
export function listAlone(group: Command): void {
  const list = group.commands.find((command) => command.name() === 'list');
  if (!list) return;
  group.allowExcessArguments().action(async (_options: unknown, { args: [word] }: Command) => {
    const names = group.commands.map((command) => command.name());
    if (word !== undefined) throw new UsageError(unknownName('command', word, names));
    await list.parseAsync([], { from: 'user' });
  });
}
