import { type Command, Option } from 'commander';
import { RETRY_MODES, RETRY_VERSIONS } from '../../core/failure/retry.ts';
import { rate } from './option-values.ts';

export function addRetryRequest(command: Command): Command {
  const help = 'now or later: resume; reset: restart without attempts and checkpoints';
  return command
    .addOption(new Option('--mode <mode>', help).choices(RETRY_MODES))
    .option('--run-at <time>', 'with --mode later, like 2030-01-31T08:00:00Z; default: the backoff')
    .option('--params <params>', 'replace the params: JSON, @file, or - to read stdin')
    .addOption(
      new Option(
        '--code <version>',
        'same: the deployment it was queued with; current: of new jobs',
      ).choices(RETRY_VERSIONS),
    );
}

export function addHow(command: Command): Command {
  return addRetryRequest(command).option(
    '--rate-per-second <number>',
    'maximum jobs per second',
    rate,
  );
}

export function addWork(command: Command): Command {
  return command
    .option('--preview', 'only show the number of matches and a sample')
    .option('--dry-run', 'the same as --preview')
    .option('--yes', 'do not ask for confirmation')
    .option('--no-wait', 'do not wait until it is finished');
}
