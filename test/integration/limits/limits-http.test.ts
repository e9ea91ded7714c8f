import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rollUpAll } from '../../../src/store/counters/roll-up.ts';
import { servedQueues } from '../../../src/store/enqueue/queues.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { callAs, newKey, newTenant, sharedServer } from '../../support/server-edge.ts';
import { clearFlow, publish, take } from '../../support/limits.ts';
import { claimAny, enqueueOne, failure, newWorker, settleAs } from '../../support/jobs.ts';

/** Limits, pauses and weights as people change them: at the door, and what comes of it behind. */
const database = sharedDatabase();
const app = sharedServer(database);
let worker: string;
let admin: { keyId: string; key: string };
let operator: { keyId: string; key: string };
let stranger: { keyId: string; key: string };

beforeAll(async () => {
  await newTenant(database, 'acme');
  await newTenant(database, 'rival');
  admin = await newKey(database, 'default', 'admin');
  operator = await newKey(database, 'default', 'operate', 'jobs:read');
  stranger = await newKey(database, 'acme', 'admin');
});
beforeEach(async () => {
  await clearFlow(database);
  worker = await newWorker(database);
});

const call = async (key: string, method: string, url: string, payload?: unknown) =>
  await callAs(app, key, method, url, payload === undefined ? {} : { payload });
const definitionOf = async (key: string, name: string) => {
  const { body } = await call(key, 'GET', '/v1/definitions');
  return (body['definitions'] as { key: string }[]).find((one) => one.key === name);
};
const entries = async () => {
  const rows = await database.sql<{ entry: string }>(
    `select concat_ws(' ', tenant, action, subject, actor) as entry from longshore.audit
     where action !~ '^(key|tenant)\\.create' order by id`,
  );
  return rows.map(({ entry }) => entry);
};

describe('the limits of a definition', () => {
  it('are changed at once, shown with the limits of the code, and removed', async () => {
    await publish(database, 'hello', { concurrencyLimit: 3 });
    for (let n = 0; n < 5; n += 1) await enqueueOne(database);
    const path = '/v1/definitions/hello/limits';
    const rateLimit = { limit: 100, perMs: 1_000 };
    const changed = await call(operator.key, 'PATCH', path, { concurrencyLimit: 1, rateLimit });
    expect(changed).toMatchObject({
      status: 200,
      body: { effective: { concurrencyLimit: 1, rateLimit: { ...rateLimit, burst: 100 } } },
    });
    expect(await take(database, worker, 10)).toHaveLength(1);
    expect(await definitionOf(operator.key, 'hello')).toMatchObject({
      concurrencyLimit: 3,
      paused: null,
      limits: {
        code: { concurrencyLimit: 3 },
        override: { concurrencyLimit: 1 },
        changedBy: `key:${operator.keyId} (operate,jobs:read)`,
        inUse: 1,
      },
    });
    expect(await definitionOf(stranger.key, 'hello')).toMatchObject({
      limits: { effective: { concurrencyLimit: 1 }, changedBy: null, inUse: null },
    });
    await call(operator.key, 'PATCH', path, { concurrencyLimit: null, rateLimit: null });
    expect(await take(database, worker, 10)).toHaveLength(2);
    expect((await entries()).slice(-2)).toEqual([
      `default definition.limits hello key:${operator.keyId} (operate,jobs:read)`,
      `default definition.limits hello key:${operator.keyId} (operate,jobs:read)`,
    ]);
  });

  it('are not changed by what is wrong', async () => {
    await publish(database, 'hello', {});
    for (const [path, body, status, text] of [
      ['definitions/helo', { concurrencyLimit: 1 }, 404, 'did you mean \\"hello\\"'],
      ['definitions/hello', { concurencyLimit: 1 }, 400, 'did you mean'],
      ['definitions/hello', { concurrencyLimit: -1 }, 400, 'whole number'],
      ['definitions/hello', { spread: 0 }, 400, 'whole number'],
      ['definitions/hello', { rateLimit: { limit: 5 } }, 400, '/rateLimit/perMs'],
      ['definitions/hello', { rateLimit: 7 }, 400, '0 for no limit'],
      ['tenants/unknown', { weight: 2 }, 404, 'not found'],
      ['tenants/acme', { weight: 0 }, 400, 'whole number'],
      ['tenants/acme', { rateLimit: 0 }, 400, 'unknown field'],
    ] as const) {
      const answer = await call(admin.key, 'PATCH', `/v1/${path}/limits`, body);
      expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(text)]);
    }
  });
});

describe('a pause', () => {
  it.each([
    ['/v1', 'all', null, 'default all.pause all'],
    ['/v1/tenants/acme', 'tenant', 'acme', 'acme tenant.pause acme'],
    ['/v1/definitions/hello', 'definition', 'hello', 'default definition.pause hello'],
  ])('at %s stops it, says who and why, and is audited', async (path, scope, name, entry) => {
    await publish(database, 'hello', {});
    await enqueueOne(database, { tenant: 'acme' });
    const reason = 'the printer burns';
    const made = await call(admin.key, 'POST', `${path}/pause`, { reason });
    const by = `key:${admin.keyId} (admin)`;
    const { before, ...pause } = made.body;
    expect([made.status, before, pause]).toMatchObject([200, null, { scope, name, by, reason }]);
    const repeated = await call(operator.key, 'POST', `${path}/pause`);
    if (scope === 'definition') expect(repeated.body).toEqual({ ...pause, before: pause });
    expect((await entries()).slice(-2)).toContain(`${entry} ${by}`);
    expect(await take(database, worker, 10)).toEqual([]);
    const listed = async (key: string) => (await call(key, 'GET', '/v1/pauses')).body['pauses'];
    expect(await listed(admin.key)).toEqual([pause]);
    expect(await listed(stranger.key)).toEqual([{ ...pause, by: null }]);
    const over = await call(admin.key, 'POST', `${path}/resume`);
    expect(over).toMatchObject({ status: 200, body: { resumed: pause } });
    expect(await take(database, worker, 10)).toHaveLength(1);
    const count = (await entries()).length;
    const again = await call(admin.key, 'POST', `${path}/resume`);
    expect(again).toMatchObject({ status: 200, body: { resumed: null } });
    expect(await entries()).toHaveLength(count);
  });

  it('of another tenant is not shown, and only the default tenant makes one', async () => {
    await publish(database, 'hello', {});
    await call(admin.key, 'POST', '/v1/tenants/rival/pause');
    expect((await call(stranger.key, 'GET', '/v1/pauses')).body).toEqual({ pauses: [] });
    for (const path of ['/v1/pause', '/v1/tenants/acme/pause', '/v1/definitions/hello/pause']) {
      expect((await call(stranger.key, 'POST', path)).status).toBe(403);
    }
    expect((await call(operator.key, 'POST', '/v1/pause')).status).toBe(403);
    expect((await call(admin.key, 'POST', '/v1/tenants/unknown/pause')).status).toBe(404);
    const typo = await call(admin.key, 'POST', '/v1/definitions/helo/pause');
    expect([typo.status, typo.text]).toEqual([404, expect.stringContaining('\\"hello\\"')]);
  });
});

it('the limit and the weight of a tenant are changed, shown, and known to workers', async () => {
  await publish(database, 'hello', {});
  for (let n = 0; n < 3; n += 1) await enqueueOne(database, { tenant: 'acme' });
  const body = { concurrencyLimit: 2, weight: 3 };
  const changed = await call(admin.key, 'PATCH', '/v1/tenants/acme/limits', body);
  expect(changed).toMatchObject({ status: 200, body: { tenant: 'acme', ...body, inUse: 0 } });
  expect(await take(database, worker, 10)).toHaveLength(2);
  const { tenants } = (await call(admin.key, 'GET', '/v1/tenants')).body;
  expect(tenants).toContainEqual(expect.objectContaining({ ...body, inUse: 2, paused: null }));
  const queues = await servedQueues(database.db, 0, [{ key: 'hello', version: 1 }]);
  expect(queues.find(({ tenant }) => tenant === 'acme')?.weight).toBe(3);
  // In the log of the tenant, and in that of the admins who made the change.
  expect((await entries()).slice(-4)).toEqual([
    `acme tenant.limits acme key:${admin.keyId} (admin)`,
    `default tenant.limits acme key:${admin.keyId} (admin)`,
    `acme tenant.weight acme key:${admin.keyId} (admin)`,
    `default tenant.weight acme key:${admin.keyId} (admin)`,
  ]);
});

it('a key of a tenant sees its own limit and how much is in use, and no other', async () => {
  await publish(database, 'hello', {});
  for (let n = 0; n < 2; n += 1) await enqueueOne(database, { tenant: 'acme' });
  await call(admin.key, 'PATCH', '/v1/tenants/acme/limits', { concurrencyLimit: 1 });
  await call(admin.key, 'POST', '/v1/tenants/acme/pause', { reason: 'unpaid' });
  await call(admin.key, 'POST', '/v1/tenants/acme/resume');
  expect(await take(database, worker, 10)).toHaveLength(1);
  // The second job waits for the end of the first.
  const heldBackMs = expect.any(Number);
  const heldBackJobs = { count: 1, isExact: true };
  const counts = { concurrencyLimit: 1, inUse: 1, firingAlerts: 0, heldBackMs, heldBackJobs };
  const own = { tenant: 'acme', paused: null, ...counts };
  expect((await call(stranger.key, 'GET', '/v1/tenant')).body).toMatchObject(own);
  expect((await call(stranger.key, 'GET', '/v1/tenant?tenant=rival')).status).toBe(403);
  expect((await call(admin.key, 'GET', '/v1/tenant')).body).toMatchObject({
    tenant: 'default',
    heldBackMs: null,
    heldBackJobs: null,
  });
  expect((await call(admin.key, 'GET', '/v1/tenant?tenant=acme')).body).toMatchObject(own);
});

it('a tenant has the number of its jobs that failed lately and still are', async () => {
  await publish(database, 'hello', {});
  const id = await enqueueOne(database, { tenant: 'rival', maxAttempts: 1 });
  const failedJobs = async () => {
    await rollUpAll(database.db);
    const { body } = await call(admin.key, 'GET', '/v1/tenants');
    return (body['tenants'] as { tenant: string; failedJobs: number }[]).find(
      ({ tenant }) => tenant === 'rival',
    )?.failedJobs;
  };
  expect(await failedJobs()).toBe(0);
  const claimed = (await claimAny(database, worker, 100)).find((job) => job.id === id);
  if (claimed) await settleAs(database, claimed, failure('HANDLER_ERROR'));
  expect(await failedJobs()).toBe(1);
  expect((await call(admin.key, 'POST', `/v1/jobs/${id}/retry?tenant=rival`)).status).toBe(202);
  expect(await failedJobs()).toBe(0);
});

it('a paused tenant has the number of the jobs that the pause holds back', async () => {
  await publish(database, 'hello', {});
  for (let n = 0; n < 2; n += 1) await enqueueOne(database, { tenant: 'acme' });
  await enqueueOne(database);
  await call(admin.key, 'POST', '/v1/tenants/acme/pause', { reason: 'unpaid' });
  const { tenants } = (await call(admin.key, 'GET', '/v1/tenants')).body;
  expect(tenants).toContainEqual(
    expect.objectContaining({
      tenant: 'acme',
      heldBackMs: expect.any(Number),
      heldBackJobs: { count: 2, isExact: true },
    }),
  );
  expect(tenants).toContainEqual(
    expect.objectContaining({ tenant: 'default', heldBackMs: null, heldBackJobs: null }),
  );
});

it('a job of another tenant is named to admins of the default tenant only', async () => {
  const id = await enqueueOne(database, { tenant: 'acme' });
  const path = `/v1/jobs/${id}`;
  const found = await call(admin.key, 'GET', path);
  expect(found).toMatchObject({ status: 404, body: { code: 'NOT_FOUND', tenant: 'acme' } });
  const hidden = await call(operator.key, 'GET', path);
  expect(hidden).toMatchObject({ status: 404 });
  expect(hidden.text).not.toContain('acme');
  expect((await call(admin.key, 'GET', `${path}?tenant=acme`)).status).toBe(200);
  const byPart = await call(admin.key, 'GET', `/v1/jobs?tenant=acme&id=${id.slice(0, 13)}`);
  expect(byPart).toMatchObject({ status: 200, body: { jobs: [{ jobId: id }] } });
});
