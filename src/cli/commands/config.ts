import type { Command } from 'commander';
import { maskValue } from '../../config/mask.ts';
import { SETTINGS } from '../../config/schema.ts';
import type { Cli } from '../cli.ts';
import { columns } from '../text/columns.ts';
import { configOf, outputOf } from '../session.ts';
import { addServerFlags } from '../options/setting-options.ts';

export function addConfig(program: Command, cli: Cli): void {
  const command = program
    .command('config')
    .summary('print the effective settings')
    .description('Print every setting with its value and source; secrets are masked.')
    .action((_options: unknown, self: Command) => {
      const out = outputOf(cli, self);
      const { config, origins } = configOf(cli, self, 'server');
      const rows = SETTINGS.map((setting) => {
        const { key } = setting;
        return { key, value: maskValue(setting, config[key]), origin: origins[key] };
      });
      if (out.json) {
        const entries = rows.map(({ key, value, origin }) => [key, { value, origin }]);
        out.document(Object.fromEntries(entries));
        return;
      }
      const cells = rows.map(({ key, value, origin }) => [key, String(value ?? '-'), origin]);
      out.table(columns([['SETTING', 'VALUE', 'SOURCE'], ...cells]));
    });
  addServerFlags(command);
}
