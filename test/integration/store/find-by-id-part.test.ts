import { expect, it } from 'vitest';
import { shortId } from '../../../src/core/job/short-id.ts';
import { findByIdPart, type IdSearch } from '../../../src/store/read/find-by-id-part.ts';
import { GONE, manyDeadLetters } from '../../support/dead-letters.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { databasePerTest } from '../../support/servers/database.ts';

const database = databasePerTest();

async function found(part: string, tenant = 'default', how: IdSearch = {}): Promise<string[]> {
  const jobs = await findByIdPart(database.db, tenant, part, how);
  return jobs.map(({ jobId }) => jobId);
}

it('finds a job by the beginning and the end of its id, in its own tenant', async () => {
  const id = await enqueueOne(database, { definitionKey: 'a' });
  for (let more = 0; more < 20; more += 1) await enqueueOne(database, { definitionKey: 'b' });
  expect(await found(shortId(id))).toEqual([id]);
  expect(await found(id.replaceAll('-', '').slice(0, 30))).toEqual([id]);
  expect(await found(id.replaceAll('-', ''))).toEqual([id]);
  expect(await found(shortId(id), 'other')).toEqual([]);
  expect(await found('123456789abc')).toEqual([]);
  expect(await found(id.slice(0, 4), 'default', { definitionKey: 'a' })).toEqual([id]);
  // All jobs of a day begin alike: the newest are shown.
  const many = await found(id.slice(0, 4));
  expect(many).toHaveLength(10);
  expect(many).toEqual(many.toSorted().reverse());
});

it('finds failed jobs behind more than it passes, and says nothing of others', async () => {
  await manyDeadLetters(database, { key: 'a', count: 3, mistakes: [GONE] });
  const [failed] = await database.sql<{ id: string }>('select id from longshore.done limit 1');
  const waiting = await enqueueOne(database, { definitionKey: 'a' });
  for (let more = 0; more < 150; more += 1) await enqueueOne(database, { definitionKey: 'a' });
  expect(await found(shortId(waiting), 'default', { passedMax: 1 })).toEqual([]);
  expect(await found(shortId(waiting))).toEqual([waiting]);
  expect(await found(shortId(failed?.id ?? ''), 'default', { passedMax: 1 })).toEqual([failed?.id]);
});

it('finds a batch only by its definition, as other jobs of the system', async () => {
  const request = { definitionKey: '$batch', definitionVersion: 1 };
  const id = await enqueueOne(database, request);
  expect(await found(shortId(id))).toEqual([]);
  expect(await found(shortId(id), 'default', { definitionKey: '$batch' })).toEqual([id]);
});
