import type { Command } from 'commander';
import { RUN_DUE_DEFAULTS } from '../../core/queue/run-due.ts';
import type { Cli } from '../cli.ts';
import { secondsAsMs, whole } from '../options/option-values.ts';
import { configOf, outputOf } from '../session.ts';
import { addServerFlags } from '../options/setting-options.ts';
import { UsageError } from '../options/usage-error.ts';

const { max: MAX_DEFAULT, seconds: SECONDS_DEFAULT } = RUN_DUE_DEFAULTS;

export function addRunDue(program: Command, cli: Cli): void {
  const command = program
    .command('run-due')
    .summary('run due jobs, then exit')
    .description('Run due jobs within a budget, as scheduler and worker, and exit.')
    .option('--max <number>', `maximum number of jobs; default ${MAX_DEFAULT}`, whole)
    .option(
      '--seconds <seconds>',
      `time budget; jobs still running then return to their queue; default ${SECONDS_DEFAULT}`,
      secondsAsMs,
    )
    .action(async (options: { max?: number; seconds?: number }, self: Command) => {
      const { max = MAX_DEFAULT, seconds: ms = SECONDS_DEFAULT * 1_000 } = options;
      if (max < 1) throw new UsageError('--max must be at least 1');
      const out = outputOf(cli, self);
      const { config } = configOf(cli, self, 'server');
      const { createLog } = await import('../../runtime/log.ts');
      const { runDueApp } = await cli.loadApp();
      const log = createLog(config.logLevel, { role: 'run-due' });
      const done = await runDueApp(config, log, { max, seconds: ms / 1_000 });
      if (out.json) return out.document(done);
      const { claimed, succeeded, retried, deadLettered, remaining } = done;
      out.lines([
        `claimed ${claimed}, succeeded ${succeeded}, retried ${retried}, ` +
          `dead letters ${deadLettered}, remaining ${remaining}`,
      ]);
    });
  addServerFlags(command);
}
