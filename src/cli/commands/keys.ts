import type { Command } from 'commander';
import { DAY_MS } from '../../core/duration.ts';
import { HOST_TENANT, type Scope } from '../../core/scope.ts';
import { ProblemError } from '../../client/index.ts';
import type { KeyView } from '../../core/key-view.ts';
import type { AppModule, Cli } from '../cli.ts';
import { columns } from '../columns.ts';
import { age } from '../../core/duration.ts';
import { scopes, whole } from '../option-values.ts';
import { configOf, outputOf } from '../session.ts';
import { addServerFlags } from '../setting-options.ts';
import { UsageError } from '../usage-error.ts';

type Desk = Parameters<Parameters<AppModule['withKeyDesk']>[2]>[0];

/** These open the database itself: the first key could not be asked of a server. */
export function addKeys(program: Command, cli: Cli): void {
  const keys = program
    .command('keys')
    .summary('make, list, rotate and revoke API keys')
    .description('Look after the API keys, in the database that a server here would use.');

  const create = keys
    .command('create')
    .description('Make a key and print it. It is shown this one time only.')
    .requiredOption('--scope <scope>', 'what it may do; may be repeated or listed', scopes)
    .option('--name <name>', 'who or what has this key', 'cli')
    .option('--expires-days <days>', 'refuse it after so many days; default never', whole)
    .action(async (options: CreateOptions, self: Command) => {
      const { name, scope, expiresDays } = options;
      const expiresAt =
        expiresDays === undefined
          ? null
          : new Date(cli.clock.now().getTime() + expiresDays * DAY_MS);
      const out = outputOf(cli, self);
      const made = await atDesk(cli, self, async (desk, tenant) =>
        desk.create({ tenant, name, scopes: scope, expiresAt }),
      );
      if (out.json) return out.document(made);
      out.lines([made.key]);
      out.note(`This is the only time that the key ${made.keyId} is shown.`);
    });

  const list = keys
    .command('list')
    .description('List the keys, revoked and expired ones too.')
    .action(async (_options: unknown, self: Command) => {
      const out = outputOf(cli, self);
      const found = await atDesk(cli, self, async (desk, tenant) => desk.list(tenant));
      if (out.json) return out.document({ keys: found });
      if (found.length === 0) return out.note('There are no keys.');
      const rows = found.map((key) => row(key, cli.clock.now()));
      out.table(columns([HEADER, ...rows], out.width));
    });

  const rotate = keys
    .command('rotate')
    .description('Make a key that may do the same, and print it; the old one goes on for a while.')
    .argument('<id>', 'the id of the key')
    .option('--overlap-seconds <seconds>', 'for how long; a day is usual', whole, DAY_MS / 1_000)
    .action(async (id: string, options: { overlapSeconds: number }, self: Command) => {
      if (options.overlapSeconds < 0) throw new UsageError('--overlap-seconds must be 0 or more');
      const out = outputOf(cli, self);
      const made = await atDesk(cli, self, async (desk, tenant) =>
        desk.rotate(tenant, id, options.overlapSeconds * 1_000),
      );
      if (made === null) throw noSuchKey(id);
      if (typeof made === 'string') throw new ProblemError(409, 'CONFLICT', `the key is ${made}`);
      if (out.json) return out.document(made);
      out.lines([made.key]);
      out.note(`The key ${id} goes on for ${options.overlapSeconds} seconds.`);
    });

  const revoke = keys
    .command('revoke')
    .description('Revoke a key for good, with every session that began with it.')
    .argument('<id>', 'the id of the key')
    .action(async (id: string, _options: unknown, self: Command) => {
      const out = outputOf(cli, self);
      const known = await atDesk(cli, self, async (desk, tenant) => desk.revoke(tenant, id));
      if (!known) throw noSuchKey(id);
      if (out.json) out.document({ keyId: id, status: 'revoked' });
      else out.lines([id]);
    });

  for (const command of [create, list, rotate, revoke]) {
    addServerFlags(command, ['data', 'shards', 'pooler', 'logLevel']);
  }
}

interface CreateOptions {
  name: string;
  scope: Scope[];
  expiresDays?: number;
}

async function atDesk<T>(
  cli: Cli,
  command: Command,
  work: (desk: Desk, tenant: string) => Promise<T>,
): Promise<T> {
  const { config, origins } = configOf(cli, command, 'server');
  const { createLog } = await import('../../runtime/log.ts');
  const { withKeyDesk } = await cli.loadApp();
  const level = origins.logLevel === 'default' ? 'warn' : config.logLevel;
  const tenant = config.tenant ?? HOST_TENANT;
  return await withKeyDesk(config, createLog(level), async (desk) => work(desk, tenant));
}

const HEADER = ['ID', 'STATUS', 'AGE', 'NAME', 'SCOPES'];

function row({ keyId, status, createdAt, name, scopes: allowed }: KeyView, now: Date): string[] {
  const ageMs = now.getTime() - Date.parse(createdAt);
  return [keyId, status, age(ageMs), name, allowed.join(',')];
}

function noSuchKey(id: string): ProblemError {
  return new ProblemError(404, 'NOT_FOUND', `there is no key "${id}"`);
}
