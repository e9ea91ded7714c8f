import { readdir } from 'node:fs/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { allStatements } from '../../../src/store/connection/db.ts';
import { describeStatements } from '../../support/checks/described-columns.ts';
import { rowTypeDifferences } from '../../support/checks/row-types.ts';
import { readSources } from '../../support/checks/source-tree.ts';
import { sharedDatabase } from '../../support/servers/database.ts';

// Statements register themselves when their file is loaded.
const folder = new URL('../../../src/store/', import.meta.url);
for (const name of await readdir(folder, { recursive: true })) {
  if (/(?<!\.test)\.ts$/.test(name)) await import(new URL(name, folder).href);
}

/** Columns that can be null in their table and never are in these rows. */
const NEVER_NULL: Record<string, string> = {
  'claim.seq': 'only jobs with one are claimed',
  'list_by_priority.b': 'only jobs with a seq are read',
  'dead_groups.code': 'a failed job has an error code, by a check of the table',
  'recent_codes.value': 'only dead letters with a code are read',
  'list_deliveries.event': 'the hook of a delivery is its event',
  'list_alert_messages.event': 'the hook of a message is its kind',
  'find_remote_worker.tenant': 'only workers with a tenant are read',
  'find_remote_worker.keyId': 'a worker with a tenant has a key',
  'take_revival.revivedTo': 'a row without a state has it, by a check of the table',
  'children_of_job.name': 'a child has a name, by a check of the table',
  'children_of_job.asked': 'a child has a hash, by a check of the table',
  'known_children.name': 'a child has a name, by a check of the table',
  'known_children.asked': 'a child has a hash, by a check of the table',
  'known_batch_jobs.name': 'a job of a batch has a name, by a check of the table',
  'known_batch_jobs.asked': 'a job of a batch has a hash, by a check of the table',
  'parents_of_job.state': 'only edges with an end are read',
  'rotate_webhook_secret.previousUntil': 'just written',
};

const database = sharedDatabase();
let client: Client;

beforeAll(async () => {
  client = new Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => await client.end());

/** The compiler reads the whole store, on a machine that may be busy. */
const TIMEOUT = { timeout: 180_000 };

it('every row type has the columns that its statement returns', TIMEOUT, async () => {
  const described = await describeStatements(client, allStatements);
  expect(described.length).toBeGreaterThan(200);
  const excused = new Set<string>();
  for (const { name, columns } of described) {
    for (const column of columns.filter(({ nullable }) => nullable)) {
      if (!NEVER_NULL[`${name}.${column.name}`]) continue;
      column.nullable = null;
      excused.add(`${name}.${column.name}`);
    }
  }
  expect([...excused].sort()).toEqual(Object.keys(NEVER_NULL).sort());
  expect(await rowTypeDifferences(described, readSources('src/store'), 'row-types')).toEqual([]);
});

it('columns are described as the driver returns them', async () => {
  const text = `select 1 as one, 2::bigint as two, 3::numeric as three, true as yes, now() as at,
      '{}'::jsonb as data, 'a'::bytea as bytes, '{a}'::text[] as words, '{1}'::bigint[] as big,
      '{1}'::int[] as small, 'queued'::longshore.job_state as state, j.tags, j.id
    from longshore.job j where j.id = $1`;
  const [described] = await describeStatements(client, [{ name: 'made_up', text }]);
  expect(described?.columns.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
    'one number',
    'two number',
    'three string',
    'yes boolean',
    'at Date',
    'data json',
    'bytes bytes',
    'words string[]',
    'big string[]',
    'small number[]',
    'state string',
    'tags string[]',
    'id string',
  ]);
  expect(described?.columns.slice(-2).map(({ nullable }) => nullable)).toEqual([true, false]);
  const [none] = await describeStatements(client, [
    { name: 'nothing', text: 'delete from longshore.setting' },
  ]);
  expect(none?.columns).toEqual([]);
});
