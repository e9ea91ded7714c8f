import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { claimAny, enqueueOne, newWorker } from '../../support/jobs.ts';

let database: TestDatabase;
beforeAll(async () => (database = await testDatabase()));
afterAll(async () => await database.close());

const page = readFileSync(new URL('../../../docs/deploying.md', import.meta.url), 'utf8');
const [, query = ''] = /```sql\n(.*?)```/s.exec(page) ?? [];

it('the query for KEDA counts what could run now and what runs', async () => {
  const slotsWanted = async () => Number(Object.values((await database.sql(query))[0] ?? {})[0]);
  expect(await slotsWanted()).toBe(0);
  await enqueueOne(database);
  await enqueueOne(database);
  await enqueueOne(database, { delayMs: 60_000 });
  await enqueueOne(database, { hold: true });
  expect(await slotsWanted()).toBe(2);
  expect(await claimAny(database, await newWorker(database), 1)).toHaveLength(1);
  expect(await slotsWanted()).toBe(2);
});
