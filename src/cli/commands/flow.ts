import type { Command } from 'commander';
import {
  type FlowTarget,
  type LimitsChange,
  Longshore,
  type TenantLimitsChange,
} from '../../client/index.ts';
import type { Cli } from '../cli.ts';
import { columns } from '../text/columns.ts';
import { limitCells, limitsTable, pausedName, pauseSentence } from '../text/limit-text.ts';
import { limitCount, limitRate, whole } from '../options/option-values.ts';
import { configOf, outputOf } from '../session.ts';
import { UsageError } from '../options/usage-error.ts';

export function addFlow(program: Command, cli: Cli): void {
  program
    .command('pause')
    .description('Start no more jobs of a definition, of a tenant (--tenant), or at all.')
    .option('--definition <key>', 'the definition, with all its versions')
    .option('--all', 'everything')
    .option('--reason <text>', 'why, for those who wonder')
    .action(async (options: TargetOptions & { reason?: string }, command: Command) => {
      const { client, target } = aim(cli, command, options);
      const out = outputOf(cli, command);
      const made = await client.flow.pause(target, options.reason);
      if (out.json) return out.document(made);
      out.lines([pausedName(made)]);
      out.note('What runs goes on to its end; new jobs are taken in and wait.');
    });

  program
    .command('resume')
    .description('Let what was paused go on: a definition, a tenant (--tenant), or everything.')
    .option('--definition <key>', 'the definition, with all its versions')
    .option('--all', 'everything; what is also paused by itself stays so')
    .action(async (options: TargetOptions, command: Command) => {
      const { client, target } = aim(cli, command, options);
      const out = outputOf(cli, command);
      const over = await client.flow.resume(target);
      if (out.json) return out.document({ resumed: over });
      if (over) out.lines([pausedName(over)]);
      else out.note('It was not paused.');
    });

  const limits = program
    .command('limits')
    .summary('look at limits and pauses, or change limits')
    .description('How much of everything may go on at a time, and what is paused.');
  limits
    .command('list')
    .description('List the limits of definitions, what is in use of them, and what is paused.')
    .action(async (_options: unknown, command: Command) => {
      const out = outputOf(cli, command);
      const client = hostClient(cli, command);
      const [definitions, pauses] = [await client.definitions(), await client.flow.pauses()];
      const newest = [...new Map(definitions.map((one) => [one.key, one])).values()];
      if (out.json)
        return out.document({
          definitions: newest.map(({ key, limits: held, paused }) => ({
            key,
            limits: held,
            paused,
          })),
          pauses,
        });
      if (newest.length > 0) out.table(limitsTable(newest, out.width));
      else out.note('No definition is known.');
      for (const pause of pauses) out.note(pauseSentence(pause, cli.clock.now()));
    });
  limits
    .command('set')
    .description('Change limits of a definition, for all its versions and at once.')
    .argument('<key>', 'the key of the definition')
    .option('--concurrency-limit <number>', 'how many run at a time', limitCount)
    .option('--concurrency-key-limit <number>', 'the same for each concurrency key', limitCount)
    .option('--rate-limit <rate>', 'starts, as limit/perMs or limit/perMs/burst', limitRate)
    .option('--key-rate-limit <rate>', 'the same for each concurrency key', limitRate)
    .addHelpText(
      'after',
      '\nInstead of a value, none lifts a limit, and code goes back to the code.',
    )
    .action(async (key: string, options: OptionValues, command: Command) => {
      const change: LimitsChange = changeOf(options);
      const out = outputOf(cli, command);
      const changed = await hostClient(cli, command).flow.limit(key, change);
      if (out.json) return out.document(changed);
      out.lines(columns([[key, ...limitCells(changed.effective)]], out.width));
    });
  limits
    .command('tenant')
    .description('Change what a tenant gets of everything.')
    .argument('<name>', 'the name of the tenant')
    .option('--concurrency-limit <number>', 'how many of its jobs run at a time', limitCount)
    .option('--weight <number>', 'its share among tenants whose jobs are as urgent', whole)
    .action(async (name: string, options: OptionValues, command: Command) => {
      const change: TenantLimitsChange = changeOf(options);
      const out = outputOf(cli, command);
      const changed = await hostClient(cli, command).tenants.limit(name, change);
      if (out.json) return out.document(changed);
      const { concurrencyLimit, weight } = changed;
      out.lines(columns([[name, String(concurrencyLimit ?? '-'), `weight ${weight}`]], out.width));
    });
}

interface TargetOptions {
  definition?: string;
  all?: true;
}

type OptionValues = Record<string, unknown>;

/** What the code shall say again is null to the server; commander knows no such value. */
function changeOf(options: OptionValues): OptionValues {
  const entries = Object.entries(options);
  if (entries.length === 0) throw new UsageError('say what to change, by a flag');
  return Object.fromEntries(
    entries.map(([name, value]) => [name, value === 'code' ? null : value]),
  );
}

/**
 * Everywhere else --tenant says for whom to act; here it says what to pause. One that comes from the
 * environment is not such a request.
 */
function aim(cli: Cli, command: Command, { definition, all }: TargetOptions) {
  const { config, origins } = configOf(cli, command, 'client');
  const tenant = origins.tenant.startsWith('flag') ? config.tenant : null;
  const targets: FlowTarget[] = [
    ...(definition === undefined ? [] : [{ definition }]),
    ...(tenant === null ? [] : [{ tenant }]),
    ...(all ? [{ all } as const] : []),
  ];
  const [target, ...more] = targets;
  if (!target || more.length > 0) {
    throw new UsageError('say one of --definition KEY, --tenant NAME and --all');
  }
  return { client: hostClient(cli, command), target };
}

/** What all tenants share is not looked after for one of them. */
function hostClient(cli: Cli, command: Command): Longshore {
  const { url, apiKey } = configOf(cli, command, 'client').config;
  return new Longshore({ url, apiKey });
}
