import { type Command, Option } from 'commander';
import { RETRY_MODES } from '../../core/failure/retry.ts';
import { rate } from './option-values.ts';

/** How a job, or each of many, is retried. */
export function addRetryRequest(command: Command): Command {
  const help = 'go on now or later, or reset: start over without attempts and checkpoints';
  return command
    .addOption(new Option('--mode <mode>', help).choices(RETRY_MODES))
    .option('--run-at <time>', 'with --mode later, like 2030-01-31T08:00:00Z; default: the backoff')
    .option('--params <params>', 'other params than before: JSON, @file, or - to read stdin');
}

export function addHow(command: Command): Command {
  return addRetryRequest(command).option(
    '--rate-per-second <number>',
    'so many jobs a second',
    rate,
  );
}

/** How a bulk action goes. */
export function addWork(command: Command): Command {
  return command
    .option('--preview', 'only say how many match, and show some of them')
    .option('--yes', 'do not ask')
    .option('--no-wait', 'do not wait until it is done');
}
