import { type Command, InvalidArgumentError } from 'commander';
import type { UsageGroup, UsageOptions } from '../../../client/index.ts';
import { isDay, USAGE_GROUPS, usageCsv } from '../../../core/usage/usage.ts';
import { unknownName } from '../../../core/values/nearest.ts';
import type { Cli } from '../../cli.ts';
import { noteUnknown } from '../../options/known-definition.ts';
import { UsageError } from '../../options/usage-error.ts';
import { clientOf, outputOf } from '../../session.ts';
import { usageTable } from '../../text/usage-text.ts';

interface Options extends Pick<UsageOptions, 'from' | 'to'> {
  by?: UsageGroup[];
  allTenants?: true;
  csv?: true;
}

export function addUsage(program: Command, cli: Cli): void {
  program
    .command('usage')
    .summary('show CPU time, memory, run time and jobs')
    .description(
      'Show what jobs used: CPU time, peak memory, run time and jobs, by day (UTC), tenant and definition.',
    )
    .argument('[definition]', 'one definition; default all')
    .option('--from <day>', 'first day, like 2026-01-31; default 29 days before the last', day)
    .option('--to <day>', 'last day; default today', day)
    .option('--by <groups>', `a row per ${USAGE_GROUPS.join(', ')}; default definition`, groups)
    .option('--all-tenants', 'all tenants; needs an admin key of the default tenant')
    .option('--csv', 'print CSV')
    .allowExcessArguments(false)
    .action(async (given: string | undefined, options: Options, command: Command) => {
      const { by, csv, allTenants, ...range } = options;
      const out = outputOf(cli, command);
      if (csv && out.json) throw new UsageError('give --csv or --json');
      const client = clientOf(cli, command);
      const groupBy = by ?? (allTenants ? ['tenant', 'definition'] : ['definition']);
      const asked = { ...range, groupBy, definitionKey: given, allTenants };
      const usage = await client.usage(asked);
      if (out.json) return out.document(usage);
      if (csv) return void cli.stdout.write(usageCsv(usage));
      if (usage.rows.length === 0) out.note('No job ended in these days.');
      else out.table(usageTable(usage, out.width));
      await noteUnknown(out, client, given);
      out.note(`${usage.from} to ${usage.to} (UTC).`);
    });
}

function day(value: string): string {
  if (isDay(value)) return value;
  throw new InvalidArgumentError('Must be a day like 2026-01-31.');
}

function groups(value: string): UsageGroup[] {
  return value.split(',').map((name) => {
    const group = USAGE_GROUPS.find((one) => one === name.trim());
    if (group) return group;
    throw new InvalidArgumentError(unknownName('group', name, USAGE_GROUPS));
  });
}
