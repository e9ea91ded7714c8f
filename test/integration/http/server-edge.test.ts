import { fastify, type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mayDo, SCOPE_NAMES } from '../../../src/core/access/scope.ts';
import { demandAccess } from '../../../src/http/access/access.ts';
import { testDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { doorOf, knock, newKey, newTenant } from '../../support/server-edge.ts';
import { claimAny, enqueueOne, newWorker } from '../../support/jobs.ts';

/**
 * Every route of the server, as its own table tells them, tried with every kind of key and with the
 * things of another tenant. A new route is in the matrix by being there.
 */

let database: TestDatabase;
let app: FastifyInstance;

beforeAll(async () => {
  database = await testDatabase();
  app = doorOf(database);
  await app.ready();
  await newTenant(database, 'acme');
  await newTenant(database, 'rival');
});
afterAll(async () => {
  await app.close();
  await database.close();
});

const MISSING = {
  jobId: '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400',
  scheduleId: '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400',
  bulkId: '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400',
  webhookId: '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400',
  deliveryId: '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400',
  keyId: '0000000000000000',
  workerId: '6a1f0c52-8d0e-4f0b-9a53-1f6c2b7d9e10',
} as const;

const pathWith = (url: string, ids: Record<string, string>) =>
  url.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? `unknown-${name}`);

const routes = () =>
  [...app.accessTable].map(([name, declared]) => {
    const [method = '', url = ''] = name.split(' ');
    return { name, method, url, ...declared };
  });

describe('a route', () => {
  it('keeps the server from starting when it declares no access', async () => {
    const bare = fastify();
    demandAccess(bare, {} as never);
    bare.register(async (scope) => void scope.get('/v1/secrets', async () => 'all of them'));
    await expect(async () => await bare.ready()).rejects.toThrow(
      'GET /v1/secrets does not declare',
    );
  });

  it('is public only where it shows no data', () => {
    const open = routes().filter(({ access, method }) => access === 'public' && method !== 'HEAD');
    expect(open.map(({ name }) => name).sort()).toEqual([
      'GET /',
      'GET /docs',
      'GET /healthz',
      'GET /livez',
      'GET /openapi.json',
      'GET /readyz',
      'POST /v1/session',
    ]);
  });

  it('lets in exactly the keys that have its scope', async () => {
    const tenants = ['acme', 'default'];
    const keys = [];
    for (const tenant of tenants) {
      for (const scope of SCOPE_NAMES) {
        keys.push({ tenant, scope, ...(await newKey(database, tenant, scope)) });
      }
    }
    const expected: string[] = [];
    const seen: string[] = [];
    for (const { name, method, url, access, ofHost } of routes()) {
      const path = pathWith(url, MISSING);
      if (access === 'public') continue;
      const { status, code } = await knock(app, null, method, path);
      seen.push(`${name} by nobody ${status} ${method === 'HEAD' ? 'UNAUTHORIZED' : code}`);
      expected.push(`${name} by nobody 401 UNAUTHORIZED`);
      for (const { tenant, scope, key } of keys) {
        const may = access === 'known' || mayDo([scope], access);
        const answer = await knock(app, key, method, path);
        seen.push(`${name} by ${scope} of ${tenant} ${[401, 403].includes(answer.status)}`);
        expected.push(
          `${name} by ${scope} of ${tenant} ${!(may && !(ofHost && tenant !== 'default'))}`,
        );
      }
    }
    expect(seen).toEqual(expected);
    expect(expected.length).toBeGreaterThan(300);
  });
});

describe('what belongs to another tenant', () => {
  const CANARY = 'nobody-else-may-read-this';

  it('is answered like what is not there, by every route, and stays as it is', async () => {
    const { key: owner, keyId } = await newKey(database, 'acme', 'admin');
    const { key: rival } = await newKey(database, 'rival', 'admin');
    const job = { definitionKey: 'secret.job', params: { note: CANARY }, hold: true };
    const made = await knock(app, owner, 'POST', '/v1/jobs', { payload: job });
    const cron = { definitionKey: 'secret.job', cron: '@daily', params: { note: CANARY } };
    const planned = await knock(app, owner, 'POST', '/v1/schedules', { payload: cron });
    const many = { action: 'cancel', filter: { definitionKey: 'other.job' } };
    const begun = await knock(app, owner, 'POST', '/v1/bulk', { payload: many });
    const hook = { url: `https://1.1.1.1/${CANARY}`, events: ['job.failed'] };
    const listening = await knock(app, owner, 'POST', '/v1/webhooks', { payload: hook });
    const webhookId = String(listening.body['id']);
    const rule = { payload: { definitionKey: 'secret.job', threshold: 2 } };
    expect((await knock(app, owner, 'PUT', '/v1/alerts/rules/stuck', rule)).status).toBe(200);
    const tested = await knock(app, owner, 'POST', `/v1/webhooks/${webhookId}/test`);
    const theirs = {
      ...MISSING,
      bulkId: String(begun.body['bulkId']),
      webhookId,
      deliveryId: String(tested.body['deliveryId']),
      jobId: String(made.body['jobId']),
      scheduleId: String(planned.body['id']),
      keyId,
    };

    for (const { name, method, url, ofHost } of routes()) {
      if (!url.includes(':') || ofHost) continue;
      const change = url.includes('webhook') ? { status: 'paused' } : { enabled: false };
      const more = method === 'PATCH' ? { payload: change } : {};
      const streams = { headers: { accept: 'text/event-stream' } };
      for (const extra of url.match(/events|logs/) ? [more, streams] : [more]) {
        const foreign = await knock(app, rival, method, pathWith(url, theirs), extra);
        const missing = await knock(app, rival, method, pathWith(url, MISSING), extra);
        let told = foreign.text;
        for (const id of Object.keys(MISSING) as (keyof typeof MISSING)[]) {
          told = told.replaceAll(theirs[id], MISSING[id]);
        }
        expect([name, foreign.status, told]).toEqual([name, 404, missing.text]);
        expect([name, missing.status]).toEqual([name, 404]);
      }
      // To its owner it is there, so that the answers above mean something.
      if (method === 'GET' && !url.includes('keyId')) {
        const own = await knock(app, owner, method, pathWith(url, theirs));
        expect([name, own.status]).toEqual([name, 200]);
      }
    }

    for (const { method, url, ofHost } of routes()) {
      if (method !== 'GET' || url.includes(':') || ofHost) continue;
      const { text } = await knock(app, rival, method, url);
      const { jobId, scheduleId } = theirs;
      for (const secret of [CANARY, jobId, scheduleId, webhookId, keyId, 'secret.job']) {
        expect(text).not.toContain(secret);
      }
    }
    const { body } = await knock(app, owner, 'GET', `/v1/jobs/${theirs.jobId}`);
    expect(body).toMatchObject({ status: 'created', tenant: 'acme' });
    const schedule = await knock(app, owner, 'GET', `/v1/schedules/${theirs.scheduleId}`);
    expect(schedule.body).toMatchObject({ enabled: true });
    const webhook = await knock(app, owner, 'GET', `/v1/webhooks/${webhookId}`);
    expect(webhook.body).toMatchObject({ status: 'active' });
    expect((await knock(app, owner, 'GET', '/v1/session')).status).toBe(200);
  });

  it('is not reached by its idempotency key', async () => {
    const { key: one } = await newKey(database, 'acme', 'jobs:write');
    const { key: two } = await newKey(database, 'rival', 'jobs:write');
    const payload = { definitionKey: 'a', idempotencyKey: 'same', params: { a: 1 } };
    const first = await knock(app, one, 'POST', '/v1/jobs', { payload });
    const other = { payload: { ...payload, params: { a: 2 } } };
    const second = await knock(app, two, 'POST', '/v1/jobs', other);
    expect([first.status, second.status]).toEqual([202, 202]);
    expect(first.body['jobId']).not.toBe(second.body['jobId']);
  });

  it('is shown of workers to admins of the default tenant only', async () => {
    const worker = await newWorker(database);
    await enqueueOne(database, { tenant: 'acme' });
    await enqueueOne(database, { tenant: 'rival' });
    await claimAny(database, worker, 100);
    const rows = await database.sql<{ id: string; tenant: string }>(
      `select r.id, l.tenant from longshore.running r join longshore.queue l using (shard, queue)`,
    );
    const runningFor = async (tenant: string, ...scopes: ['jobs:read'] | ['admin']) => {
      const { key } = await newKey(database, tenant, ...scopes);
      const { body } = await knock(app, key, 'GET', '/v1/workers');
      return (body['workers'] as { running: string[] }[]).flatMap(({ running }) => running).sort();
    };
    const idsOf = (tenant: string) =>
      rows.flatMap((row) => (row.tenant === tenant ? row.id : [])).sort();
    expect(idsOf('acme').length * idsOf('rival').length).toBeGreaterThan(0);
    expect(await runningFor('acme', 'admin')).toEqual(idsOf('acme'));
    expect(await runningFor('rival', 'jobs:read')).toEqual(idsOf('rival'));
    expect(await runningFor('default', 'jobs:read')).toEqual([]);
    expect(await runningFor('default', 'admin')).toEqual(rows.map(({ id }) => id).sort());
  });
});

describe('?tenant', () => {
  it('lets only an admin of the default tenant act for another one', async () => {
    const { key: host } = await newKey(database, 'default', 'admin');
    const payload = { definitionKey: 'a' };
    const made = await knock(app, host, 'POST', '/v1/jobs?tenant=acme', { payload });
    const path = `/v1/jobs/${String(made.body['jobId'])}`;
    expect((await knock(app, host, 'GET', `${path}?tenant=acme`)).body['tenant']).toBe('acme');
    expect((await knock(app, host, 'GET', path)).status).toBe(404);
    const unknown = await knock(app, host, 'GET', '/v1/jobs?tenant=nobody');
    expect([unknown.status, unknown.code]).toEqual([404, 'NOT_FOUND']);
    expect((await knock(app, host, 'GET', '/v1/jobs?tenant=NO%20NAME')).status).toBe(400);
    for (const [tenant, scope] of [
      ['acme', 'admin'],
      ['default', 'operate'],
      ['default', 'jobs:read'],
    ] as const) {
      const { key } = await newKey(database, tenant, scope);
      for (const other of ['rival', 'nobody']) {
        const { status } = await knock(app, key, 'GET', `/v1/jobs?tenant=${other}`);
        expect([tenant, scope, other, status]).toEqual([tenant, scope, other, 403]);
      }
    }
    const { key } = await newKey(database, 'acme', 'jobs:read');
    expect((await knock(app, key, 'GET', `${path}?tenant=acme`)).status).toBe(200);
  });
});
