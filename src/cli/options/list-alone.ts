import type { Command } from 'commander';
import { unknownName } from '../../core/values/nearest.ts';
import { UsageError } from './usage-error.ts';

/**
 * `longshore dlq` alone lists, as `longshore workers` does: whoever names a kind of thing and nothing
 * more wants to see them. A misspelt command after it is told as one.
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
