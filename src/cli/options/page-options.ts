import type { Command } from 'commander';
import { whole } from './option-values.ts';

export interface PageFlags {
  limit?: number;
  cursor?: string;
}

export function addPage(command: Command): Command {
  return command
    .option('--limit <number>', 'page size: 1 to 200, default 50', whole)
    .option('--cursor <cursor>', 'continue after the previous page');
}
