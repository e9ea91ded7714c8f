import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';
import { Enqueuer } from '../../../src/enqueue/enqueuer.ts';
import { queuedBytes } from '../../../src/store/enqueue/queued-bytes.ts';
import { Quotas } from '../../../src/enqueue/quotas.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { callAs, newKey, newTenant, serverOn } from '../../support/server-edge.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { until } from '../../support/until.ts';

const database = sharedDatabase({ shards: 2 });
let app: FastifyInstance;
let keys: { acme: string; rival: string; heavy: string };

const LIMITS = {
  tenantQueuedMax: 3,
  tenantQueuedBytesMax: 10_000,
  tenantSchedulesMax: 2,
  tenantWebhooksMax: 2,
};

beforeAll(async () => {
  const { db, waker } = database;
  const quotas = new Quotas(db, systemClock, LIMITS);
  app = serverOn(database, {
    enqueuer: new Enqueuer(db, waker, systemClock, quotas),
    quotas,
  });
  const keyOf = async (name: string) =>
    (await newKey(database, await newTenant(database, name), 'admin')).key;
  keys = { acme: await keyOf('acme'), rival: await keyOf('rival'), heavy: await keyOf('heavy') };
});
afterAll(async () => await app.close());

const start = async (key: string, count: number) => {
  const jobs = Array.from({ length: count }, (_, n) => ({ definitionKey: `job-${n}` }));
  return await callAs(app, key, 'POST', '/v1/jobs/batch', { payload: { jobs } });
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
  const { body } = await callAs(app, keys.acme, 'GET', '/v1/jobs?status=queued');
  for (const { jobId } of body['jobs'] as { jobId: string }[]) {
    await callAs(app, keys.acme, 'POST', `/v1/jobs/${jobId}/cancel`);
  }
  await until('there is room again', async () => (await start(keys.acme, 1)).status === 202);
});

it('and so many schedules', async () => {
  const make = async () =>
    await callAs(app, keys.acme, 'POST', '/v1/schedules', {
      payload: { definitionKey: 'a', cron: '@daily' },
    });
  const made = [await make(), await make()];
  expect(made.map(({ status }) => status)).toEqual([201, 201]);
  const refused = await make();
  expect([refused.status, refused.code]).toEqual([429, 'QUOTA_EXCEEDED']);
  await callAs(app, keys.acme, 'DELETE', `/v1/schedules/${String(made[0]?.body['id'])}`);
  expect((await make()).status).toBe(201);
});

it('and so many webhooks', async () => {
  const payload = { url: 'https://1.1.1.1/', events: ['job.failed'] };
  const make = async () => await callAs(app, keys.acme, 'POST', '/v1/webhooks', { payload });
  const made = [await make(), await make()];
  expect(made.map(({ status }) => status)).toEqual([201, 201]);
  const refused = await make();
  expect([refused.status, refused.code]).toEqual([429, 'QUOTA_EXCEEDED']);
  await callAs(app, keys.acme, 'DELETE', `/v1/webhooks/${String(made[0]?.body['id'])}`);
  expect((await make()).status).toBe(201);
});

it('also when they are asked for at the same time', async () => {
  const { key } = await newKey(database, await newTenant(database, 'hasty'), 'admin');
  const payloads = {
    '/v1/webhooks': { url: 'https://1.1.1.1/', events: ['job.failed'] },
    '/v1/schedules': { definitionKey: 'a', cron: '@daily' },
  };
  for (const [path, payload] of Object.entries(payloads)) {
    const all = Array.from({ length: 8 }, async () => callAs(app, key, 'POST', path, { payload }));
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    expect([path, statuses.filter((status) => status === 201).length]).toEqual([path, 2]);
  }
});

it('and so many bytes of params, all of a batch or none', async () => {
  const post = async (...sizes: number[]) => {
    const jobs = sizes.map((size) => ({ definitionKey: 'big', params: noise(size) }));
    return await callAs(app, keys.heavy, 'POST', '/v1/jobs/batch', { payload: { jobs } });
  };
  expect((await post(6_000)).status).toBe(202);
  const refused = await post(3_000, 3_000);
  expect([refused.status, refused.code]).toEqual([429, 'QUOTA_EXCEEDED']);
  expect(refused.text).toContain('10000 bytes of params');
  expect((await post(3_000)).status).toBe(202);
});

it('counts bytes as they are stored, and takes the rest for as large as what it looked at', async () => {
  const tenant = 'sizes';
  const enqueue = async (definitionKey: string, paramsJson: string) =>
    await enqueueOne(database, { tenant, definitionKey, paramsJson });
  expect(await queuedBytes(database.db, tenant)).toBe(0);
  await enqueue('noise', JSON.stringify(noise(50_000)));
  const one = await queuedBytes(database.db, tenant);
  expect(one).toBeGreaterThan(30_000);
  await enqueue('same', JSON.stringify('x'.repeat(50_000)));
  expect(await queuedBytes(database.db, tenant)).toBeLessThan(one + 5_000);
  for (let n = 0; n < 40; n += 1) {
    await enqueueOne(database, { tenant: 'many', definitionKey: 'a', paramsJson: '"12345678"' });
  }
  const exact = await queuedBytes(database.db, 'many');
  expect(await queuedBytes(database.db, 'many', 20)).toBe(exact);
});

/** Text that does not compress. */
function noise(length: number): string {
  return randomBytes(length).toString('base64').slice(0, length);
}
