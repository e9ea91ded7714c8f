import type { Command } from 'commander';
import {
  type FlowTarget,
  Forbidden,
  type LimitsChange,
  Longshore,
  NotFound,
  type Tenant,
  type TenantLimitsChange,
} from '../../client/index.ts';
import { resumeWords } from '../../core/queue/pause-words.ts';
import { unknownName } from '../../core/values/nearest.ts';
import { tenantWords } from '../../core/views/tenant-words.ts';
import type { Cli } from '../cli.ts';
import { columns } from '../text/columns.ts';
import {
  limitCells,
  limitsTable,
  pausedName,
  pausedSentence,
  pauseSentence,
  stillPaused,
} from '../text/limit-text.ts';
import { tenantTable } from '../text/tenant-text.ts';
import {
  limitCount,
  limitRate,
  spreadCount,
  tenantLimit,
  whole,
} from '../options/option-values.ts';
import { configOf, outputOf, serverOf } from '../session.ts';
import { UsageError } from '../options/usage-error.ts';

export function addFlow(program: Command, cli: Cli): void {
  program
    .command('pause')
    .summary('pause a definition, a tenant or everything')
    .description('Pause a definition, a tenant (--tenant) or everything: no more jobs start.')
    .option('--definition <key>', 'the definition, all versions')
    .option('--all', 'everything')
    .option('--reason <text>', 'reason, shown to other users')
    .action(async (options: TargetOptions & { reason?: string }, command: Command) => {
      const { client, target } = aim(cli, command, options);
      const out = outputOf(cli, command);
      const made = await client.flow.pause(target, options.reason);
      if (out.json) return out.document(made);
      out.lines([pausedSentence(made, cli.clock.now())]);
      out.note('Running jobs continue; new jobs are accepted and wait.');
    });

  program
    .command('resume')
    .summary('end a pause')
    .description('Resume a definition, a tenant (--tenant) or everything.')
    .option('--definition <key>', 'the definition, all versions')
    .option('--all', 'everything; separate pauses of definitions and tenants remain')
    .action(async (options: TargetOptions, command: Command) => {
      const { client, target } = aim(cli, command, options);
      const out = outputOf(cli, command);
      const waiting = out.json ? null : await waitingJobs(cli, command, client, target);
      const over = await client.flow.resume(target);
      if (out.json) return out.document({ resumed: over });
      if (!over) return out.note('Not paused.');
      const now = cli.clock.now();
      out.lines([`resumed ${pausedName(over)}`]);
      out.note(pauseSentence(over, now));
      const left = stillPaused(over, await client.flow.pauses(), now);
      for (const words of left) out.note(words);
      if (left.length === 0 || over.scope === 'all') out.note(resumeWords(waiting));
    });

  const limits = program
    .command('limits')
    .summary('list limits and pauses, or change limits')
    .description('List and change limits, and list pauses.');
  limits
    .command('list')
    .description('List the limits of definitions and tenants, their use, and pauses.')
    .action(async (_options: unknown, command: Command) => {
      const out = outputOf(cli, command);
      const client = hostClient(cli, command);
      const [definitions, pauses] = [await client.definitions(), await client.flow.pauses()];
      const tenants = await visibleTenants(client);
      const newest = [...new Map(definitions.map((one) => [one.key, one])).values()];
      if (out.json)
        return out.document({
          definitions: newest.map(({ key, limits: held, paused }) => ({
            key,
            limits: held,
            paused,
          })),
          pauses,
          tenants,
        });
      if (newest.length > 0) out.table(limitsTable(newest, out.width));
      else out.note('No definitions.');
      if (tenants.some(isLimited)) out.lines(['', ...tenantTable(tenants, out.width)]);
      for (const pause of pauses) out.note(pauseSentence(pause, cli.clock.now()));
    });
  limits
    .command('set')
    .description('Change limits of a definition, for all versions, effective at once.')
    .argument('<key>', 'the key of the definition')
    .option('--concurrency-limit <number>', 'number of jobs that run at a time', limitCount)
    .option('--concurrency-key-limit <number>', 'the same for each concurrency key', limitCount)
    .option('--rate-limit <rate>', 'job starts, as limit/perMs or limit/perMs/burst', limitRate)
    .option('--key-rate-limit <rate>', 'the same for each concurrency key', limitRate)
    .option('--spread <number>', 'number of shards for its jobs', spreadCount)
    .addHelpText(
      'after',
      '\nInstead of a value: none removes the limit, code restores the value of the code.\n' +
        'To stop the definition: longshore pause --definition KEY.',
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
    .description('Show the limit and weight of a tenant, or change them.')
    .argument('<name>', 'the name of the tenant')
    .option(
      '--concurrency-limit <number>',
      'number of its jobs that run at a time, or none',
      tenantLimit,
    )
    .option('--weight <number>', 'its share among tenants at the same priority', whole)
    .addHelpText('after', '\nTo stop a tenant: longshore pause --tenant NAME.')
    .action(async (name: string, options: OptionValues, command: Command) => {
      const out = outputOf(cli, command);
      const client = hostClient(cli, command);
      const isChange = Object.keys(options).length > 0;
      const change: TenantLimitsChange = isChange ? changeOf(options) : {};
      const found = isChange
        ? await client.tenants.limit(name, change)
        : await tenantNamed(client, name);
      if (out.json) return out.document(found);
      out.lines([tenantWords(found)]);
    });
}

/** Limits of tenants are for admins of the default tenant; others get the rest of the list. */
async function visibleTenants(client: Longshore): Promise<Tenant[]> {
  try {
    return await client.tenants.list();
  } catch (error) {
    if (error instanceof Forbidden) return [];
    throw error;
  }
}

function isLimited({ concurrencyLimit, weight }: Tenant): boolean {
  return concurrencyLimit !== null || weight !== 1;
}

async function tenantNamed(client: Longshore, name: string): Promise<Tenant> {
  const tenants = await client.tenants.list();
  const found = tenants.find(({ tenant }) => tenant === name);
  if (found) return found;
  const known = tenants.map(({ tenant }) => tenant);
  throw new NotFound(404, 'NOT_FOUND', unknownName('tenant', name, known));
}

interface TargetOptions {
  definition?: string;
  all?: true;
}

type OptionValues = Record<string, unknown>;

/** `code` is null in the API; commander cannot express null. */
function changeOf(options: OptionValues): OptionValues {
  const entries = Object.entries(options);
  if (entries.length === 0) throw new UsageError('nothing to change: give at least one flag');
  return Object.fromEntries(
    entries.map(([name, value]) => [name, value === 'code' ? null : value]),
  );
}

/**
 * Elsewhere --tenant selects the tenant to act for; here it selects what to pause. A tenant from
 * the environment does not count.
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
    throw new UsageError('give one of --definition KEY, --tenant NAME and --all');
  }
  return { client: hostClient(cli, command), target };
}

/** Tenants whose waiting jobs are counted. */
const TENANTS_COUNTED = 20;

/** How many jobs wait for the target; null when it is not known. */
async function waitingJobs(
  cli: Cli,
  command: Command,
  client: Longshore,
  target: FlowTarget,
): Promise<number | null> {
  const { url, apiKey } = configOf(cli, command, 'client').config;
  const depthIn = async (tenant: string) => {
    const { definitions } = await new Longshore({ url, apiKey, tenant }).stats();
    const fitting = definitions.filter(
      ({ key }) => !('definition' in target) || key === target.definition,
    );
    return fitting.reduce((sum, { depth }) => sum + depth, 0);
  };
  try {
    if ('tenant' in target) return await depthIn(target.tenant);
    const tenants = await client.tenants.list();
    if (tenants.length > TENANTS_COUNTED) return null;
    const counts = await Promise.all(tenants.map(async ({ tenant }) => await depthIn(tenant)));
    return counts.reduce((sum, count) => sum + count, 0);
  } catch {
    // The count is a comfort: a key that may not read it may still resume.
    return null;
  }
}

/** Host settings are not changed on behalf of a tenant. */
function hostClient(cli: Cli, command: Command): Longshore {
  const { url, apiKey } = serverOf(cli, command).config;
  return new Longshore({ url, apiKey });
}
