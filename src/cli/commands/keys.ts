import type { Command } from 'commander';
import { DAY_MS } from '../../core/values/duration.ts';
import { DEFAULT_TENANT, mayDo, type Scope, SCOPE_NAMES } from '../../core/access/scope.ts';
import type { KeyView } from '../../core/views/key-view.ts';
import type { Cli } from '../cli.ts';
import { columns } from '../text/columns.ts';
import { age } from '../../core/values/duration.ts';
import { withKeys } from '../options/key-access.ts';
import { patterns, scopes, whole } from '../options/option-values.ts';
import { configOf, outputOf } from '../session.ts';
import { addServerFlags } from '../options/setting-options.ts';
import { UsageError } from '../options/usage-error.ts';

/** Only `create` may create the embedded database, where its folder is named. */
const EXISTING = { makesCluster: false };

export function addKeys(program: Command, cli: Cli): void {
  const keys = program
    .command('keys')
    .summary('create, list, rotate and revoke API keys')
    .description(
      'Manage API keys: of the server given by --url or LONGSHORE_URL, otherwise in the ' +
        'database that a local server would use.',
    );

  const create = keys
    .command('create')
    .description('Create a key and print it. It is shown only once.')
    .option(
      '--scope <scope>',
      `scope of the key: ${SCOPE_NAMES.join(', ')}; may be repeated or comma-separated`,
      scopes,
    )
    .option(
      '--definitions <patterns>',
      'for the scope worker: definitions it may serve, such as report.*; comma-separated',
      patterns,
    )
    .option('--name <name>', 'name of the key', 'cli')
    .option('--expires-days <days>', 'days until it expires; default never', whole)
    .action(async (options: CreateOptions, self: Command) => {
      const { name, scope, definitions, expiresDays } = options;
      if (scope === undefined) {
        throw new UsageError(
          `--scope is missing: give one or more of ${SCOPE_NAMES.join(', ')}, separated by commas`,
        );
      }
      if (definitions && !mayDo(scope, 'worker')) {
        throw new UsageError('--definitions needs --scope worker: it limits nothing else');
      }
      const expiresAt =
        expiresDays === undefined
          ? null
          : new Date(cli.clock.now().getTime() + expiresDays * DAY_MS);
      const out = outputOf(cli, self);
      const isOfDefault =
        (configOf(cli, self, 'client').config.tenant ?? DEFAULT_TENANT) === DEFAULT_TENANT;
      const request = { name, scopes: scope, ...(definitions && { definitions }), expiresAt };
      const { made, isFirst, opened } = await withKeys(
        cli,
        self,
        { makesCluster: true },
        async (access) => {
          const isFirst = isOfDefault && (await access.list()).length === 0;
          return { made: await access.create(request), isFirst, opened: access.opened };
        },
      );
      if (out.json) return out.document(made);
      out.lines([made.key]);
      out.note(`The key ${made.keyId} is shown only once.`);
      if (opened) out.note(databaseWords(opened));
      if (isFirst) out.note(FIRST_KEY_WORDS);
    });

  const list = keys
    .command('list')
    .description('List all keys, including revoked and expired ones.')
    .action(async (_options: unknown, self: Command) => {
      const out = outputOf(cli, self);
      const found = await withKeys(cli, self, EXISTING, async (access) => access.list());
      if (out.json) return out.document({ keys: found });
      if (found.length === 0) return out.note('No keys.');
      const rows = found.map((key) => row(key, cli.clock.now()));
      out.table(columns([HEADER, ...rows], out.width));
    });

  const rotate = keys
    .command('rotate')
    .description(
      'Create a key with the same scopes and print it; the old key stays valid for a while.',
    )
    .argument('<id>', 'the id of the key')
    .option(
      '--overlap-seconds <seconds>',
      'how long the old key stays valid; default one day',
      whole,
      DAY_MS / 1_000,
    )
    .action(async (id: string, options: { overlapSeconds: number }, self: Command) => {
      if (options.overlapSeconds < 0) throw new UsageError('--overlap-seconds must be 0 or more');
      const out = outputOf(cli, self);
      const made = await withKeys(cli, self, EXISTING, async (access) =>
        access.rotate(id, options),
      );
      if (out.json) return out.document(made);
      out.lines([made.key]);
      out.note(`The key ${id} stays valid for ${options.overlapSeconds} seconds.`);
    });

  const revoke = keys
    .command('revoke')
    .description('Revoke a key and all its sessions.')
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
  scope?: Scope[];
  definitions?: string[];
  expiresDays?: number;
}

const HEADER = ['ID', 'STATUS', 'AGE', 'NAME', 'SCOPES'];

function row(key: KeyView, now: Date): string[] {
  const { keyId, status, createdAt, name, scopes: allowed, definitions } = key;
  const ageMs = now.getTime() - Date.parse(createdAt);
  const serves = definitions?.length ? ` (${definitions.join(',')})` : '';
  return [keyId, status, age(ageMs), name, `${allowed.join(',')}${serves}`];
}

const FIRST_KEY_WORDS =
  'This is the first key: from now on every call needs one, the dashboard included.';

function databaseWords({ database, isServed }: { database: string; isServed: boolean }): string {
  const serving = isServed ? '' : ' No server runs on it now.';
  return `It was created in the database ${database}.${serving}`;
}
