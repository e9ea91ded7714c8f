import type { Command } from 'commander';
import { type Longshore, NotFound } from '../../../client/index.ts';
import { DAY_MS } from '../../../core/values/duration.ts';
import { unknownName } from '../../../core/values/nearest.ts';
import type { Cli } from '../../cli.ts';
import { clientOf, outputOf } from '../../session.ts';
import {
  type DefinitionPage,
  definitionRows,
  definitionTable,
  definitionText,
} from '../../text/jobs/definition-text.ts';

const FAILURES = 5;
/** The maximum of the server. */
const GROUPS_MAX = 1_000;

export function addDefinitions(program: Command, cli: Cli): void {
  program
    .command('definitions')
    .summary('list definitions, or show one')
    .description('List definitions with their jobs, or show one with schema and failures.')
    .argument('[key]', 'the key of the definition')
    .action(async (key: string | undefined, _options: unknown, command: Command) => {
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      const now = cli.clock.now();
      if (key !== undefined) {
        const page = await readOne(client, key, now);
        if (out.json) out.document({ ...page.row, ...page });
        else out.lines(definitionText(page, now, out.width));
        return;
      }
      const rows = await readRows(client, now);
      if (out.json) out.document({ definitions: rows });
      else if (rows.length > 0) out.table(definitionTable(rows, out.width));
      else out.note('No definitions: no worker has registered one.');
    });
}

async function readRows(client: Longshore, now: Date, definitionKey?: string) {
  const from = new Date(now.getTime() - DAY_MS);
  const [definitions, stats, groups] = await Promise.all([
    client.definitions(),
    client.stats({ seriesMinutes: 1 }),
    client.deadLetters.groups({ definitionKey, from, limit: GROUPS_MAX }),
  ]);
  return definitionRows(definitions, stats, groups);
}

async function readOne(client: Longshore, key: string, now: Date): Promise<DefinitionPage> {
  const definitions = await client.definitions();
  const own = definitions.filter((one) => one.key === key);
  const definition = own.at(-1);
  if (!definition) {
    const known = [...new Set(definitions.map((one) => one.key))];
    throw new NotFound(404, 'NOT_FOUND', unknownName('definition', key, known));
  }
  const [rows, { schedules }, { jobs: failures }] = await Promise.all([
    readRows(client, now, key),
    client.schedules.list({ definitionKey: key }),
    client.deadLetters.list({ definitionKey: key, limit: FAILURES }),
  ]);
  const row = rows.find((one) => one.key === key);
  if (!row) throw new NotFound(404, 'NOT_FOUND', `definition "${key}" was removed meanwhile`);
  return { definition, row, versions: own.map(({ version }) => version), schedules, failures };
}
