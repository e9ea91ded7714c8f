import type { Command } from 'commander';
import { whole } from './option-values.ts';

export interface PageFlags {
  limit?: number;
  cursor?: string;
}

/** Which page of a list. */
export function addPage(command: Command): Command {
  return command
    .option('--limit <number>', 'how many at most: 1 to 200, default 50', whole)
    .option('--cursor <cursor>', 'go on where the page before ended');
}
