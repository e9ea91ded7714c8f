import type { Command } from 'commander';
import type { AppModule, Cli } from '../cli.ts';
import { columns } from '../text/columns.ts';
import type { Output } from '../text/output.ts';
import { configOf, outputOf } from '../session.ts';
import { addServerFlags } from '../options/setting-options.ts';

type Report = Awaited<ReturnType<AppModule['encryptionApp']>>;

/** These commands open the database directly: encryption keys are never sent over the API. */
export function addEncryption(program: Command, cli: Cli): void {
  const encryption = program
    .command('encryption')
    .summary('show the encryption keys in use, and rotate to a new one')
    .description('Manage the values that LONGSHORE_ENCRYPTION_KEYS has encrypted in the database.');

  const status = encryption
    .command('status')
    .description('Count encrypted values by key. Reads all values.')
    .action(async (_options: unknown, self: Command) => {
      const out = outputOf(cli, self);
      print(out, await run(cli, self, false));
    });

  const reseal = encryption
    .command('reseal')
    .description('Re-encrypt all values with the first key.')
    .action(async (_options: unknown, self: Command) => {
      const out = outputOf(cli, self);
      const report = await run(cli, self, true);
      print(out, report);
      out.note(`${report.resealed} values were re-encrypted.`);
      if (report.unopened > 0) out.note(`${report.unopened} values could not be decrypted.`);
    });

  for (const command of [status, reseal]) {
    addServerFlags(command, ['data', 'shards', 'pooler', 'logLevel']);
  }
}

async function run(cli: Cli, command: Command, reseal: boolean): Promise<Report> {
  const { config, origins } = configOf(cli, command, 'server');
  const { createLog } = await import('../../runtime/log.ts');
  const { encryptionApp } = await cli.loadApp();
  const level = origins.logLevel === 'default' ? 'warn' : config.logLevel;
  return await encryptionApp(config, createLog(level), { reseal });
}

function print(out: Output, report: Report): void {
  if (out.json) return out.document(report);
  if (report.keys.length === 0) return out.note('No encrypted values and no keys.');
  const rows = report.keys.map(({ id, use, values }) => [id, use, String(values)]);
  out.table(columns([['KEY', 'USE', 'VALUES'], ...rows], out.width));
}
