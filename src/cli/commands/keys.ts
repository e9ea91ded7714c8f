import type { Command } from 'commander';
import { DAY_MS } from '../../core/values/duration.ts';
import type { Scope } from '../../core/access/scope.ts';
import type { KeyView } from '../../core/views/key-view.ts';
import type { Cli } from '../cli.ts';
import { columns } from '../text/columns.ts';
import { age } from '../../core/values/duration.ts';
import { withKeys } from '../options/key-access.ts';
import { scopes, whole } from '../options/option-values.ts';
import { outputOf } from '../session.ts';
import { addServerFlags } from '../options/setting-options.ts';
import { UsageError } from '../options/usage-error.ts';

/** A key that shall be found, changed or listed is in a database that exists. */
const EXISTING = { makesCluster: false };

export function addKeys(program: Command, cli: Cli): void {
  const keys = program
    .command('keys')
    .summary('make, list, rotate and revoke API keys')
    .description(
      'Look after the API keys: of the server that --url or LONGSHORE_URL names, or else in the ' +
        'database that a server here would use.',
    );

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
      const made = await withKeys(cli, self, { makesCluster: true }, async (access) =>
        access.create({ name, scopes: scope, expiresAt }),
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
      const found = await withKeys(cli, self, EXISTING, async (access) => access.list());
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
      const made = await withKeys(cli, self, EXISTING, async (access) =>
        access.rotate(id, options),
      );
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
      await withKeys(cli, self, EXISTING, async (access) => access.revoke(id));
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

const HEADER = ['ID', 'STATUS', 'AGE', 'NAME', 'SCOPES'];

function row({ keyId, status, createdAt, name, scopes: allowed }: KeyView, now: Date): string[] {
  const ageMs = now.getTime() - Date.parse(createdAt);
  return [keyId, status, age(ageMs), name, allowed.join(',')];
}
