import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { configOf, outputOf } from '../session.ts';
import { addServerFlags } from '../options/setting-options.ts';

export function addMigrate(program: Command, cli: Cli): void {
  const command = program
    .command('migrate')
    .summary('apply database migrations')
    .description('Apply pending migrations and print their names.')
    .action(async (_options: unknown, self: Command) => {
      const out = outputOf(cli, self);
      const { config } = configOf(cli, self, 'server');
      const { createLog } = await import('../../runtime/log.ts');
      const { migrateApp } = await cli.loadApp();
      const done = await migrateApp(config, createLog(config.logLevel));
      if (out.json) out.document(done);
      else out.lines(done.applied);
      out.note(
        done.applied.length === 0
          ? `${done.database} is up to date.`
          : `${done.database} is now up to date.`,
      );
    });
  addServerFlags(command, ['data', 'shards', 'logLevel']);
}
