import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { Inbox } from '../../src/store/inbox.ts';
import { Quotas } from '../../src/store/quotas.ts';
import { testDatabase, type TestDatabase } from '../support/database.ts';
import { doorOf, knock, newKey, newTenant } from '../support/door.ts';
import { until } from '../support/until.ts';

let database: TestDatabase;
let app: FastifyInstance;
let keys: { acme: string; rival: string };

beforeAll(async () => {
  database = await testDatabase({ shards: 2 });
  const { db, waker } = database;
  const limits = { tenantQueuedMax: 3, tenantSchedulesMax: 2 };
  const quotas = new Quotas(db, systemClock, limits);
  app = doorOf(database, { inbox: new Inbox(db, waker, systemClock, null, quotas), quotas });
  const keyOf = async (name: string) =>
    (await newKey(database, await newTenant(database, name), 'admin')).key;
  keys = { acme: await keyOf('acme'), rival: await keyOf('rival') };
});
afterAll(async () => {
  await app.close();
  await database.close();
});

const start = async (key: string, count: number) => {
  const jobs = Array.from({ length: count }, (_, n) => ({ definitionKey: `job-${n}` }));
  return await knock(app, key, 'POST', '/v1/jobs/batch', { payload: { jobs } });
};

it('a tenant has so many queued jobs at most, and the others are not its business', async () => {
  const together = await Promise.all([1, 1, 1, 1, 1, 1].map(async (n) => start(keys.acme, n)));
  const statuses = together.map(({ status }) => status);
  expect(statuses.filter((status) => status === 202)).toHaveLength(3);
  const refused = await start(keys.acme, 1);
  expect([refused.status, refused.code]).toEqual([429, 'QUOTA_EXCEEDED']);
  expect(refused.headers['retry-after']).toBe('1');
  expect((await start(keys.rival, 4)).status).toBe(429);
  expect((await start(keys.rival, 3)).status).toBe(202);
  const { body } = await knock(app, keys.acme, 'GET', '/v1/jobs?status=queued');
  for (const { jobId } of body['jobs'] as { jobId: string }[]) {
    await knock(app, keys.acme, 'POST', `/v1/jobs/${jobId}/cancel`);
  }
  await until('there is room again', async () => (await start(keys.acme, 1)).status === 202);
});

it('and so many schedules', async () => {
  const make = async () =>
    await knock(app, keys.acme, 'POST', '/v1/schedules', {
      payload: { definitionKey: 'a', cron: '@daily' },
    });
  const made = [await make(), await make()];
  expect(made.map(({ status }) => status)).toEqual([201, 201]);
  const refused = await make();
  expect([refused.status, refused.code]).toEqual([429, 'QUOTA_EXCEEDED']);
  await knock(app, keys.acme, 'DELETE', `/v1/schedules/${String(made[0]?.body['id'])}`);
  expect((await make()).status).toBe(201);
});
