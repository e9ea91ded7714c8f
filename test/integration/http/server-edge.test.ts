import { defineJob } from '../../../src/core/definition/define.ts';
import { PassThrough } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { fastify, type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mayDo, SCOPE_NAMES } from '../../../src/core/access/scope.ts';
import { FileStorage } from '../../../src/artifacts/file-storage.ts';
import { Deployer } from '../../../src/deployments/deployer.ts';
import { Uploads } from '../../../src/deployments/uploads.ts';
import { demandAccess } from '../../../src/http/access/access.ts';
import { Header } from 'tar';
import { quickFolder } from '../../support/quick-folder.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { serverOn, callAs, newKey, newTenant } from '../../support/server-edge.ts';
import { claimAny, enqueueOne, newWorker } from '../../support/jobs.ts';

/**
 * Every route of the server, as its own table tells them, tried with every kind of key and with the
 * things of another tenant. A new route is in the matrix by being there.
 */

const RING = `a:${Buffer.alloc(32, 7).toString('base64')}`;
const database = sharedDatabase({ encryptionKeys: RING });
let app: FastifyInstance;
let uploads: Uploads;

/** A tar.gz with one empty file. */
function packFixture(to: PassThrough): void {
  const header = new Header({ path: 'main.js', size: 0, mode: 0o644, type: 'File' });
  const block = Buffer.alloc(512);
  header.encode(block);
  to.end(gzipSync(Buffer.concat([block, Buffer.alloc(1_024)])));
}

beforeAll(async () => {
  const folder = await quickFolder('longshore-edge-');
  uploads = new Uploads(database.db, new FileStorage(folder));
  const deployer = new Deployer({ db: database.db, syncSchedules: async () => undefined });
  app = serverOn(database, { uploads, deployer });
  await app.ready();
  await newTenant(database, 'acme');
  await newTenant(database, 'rival');
});
afterAll(async () => await app.close());

const MISSING = {
  jobId: '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400',
  scheduleId: '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400',
  batchId: '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400',
  bulkId: '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400',
  webhookId: '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400',
  deliveryId: '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400',
  keyId: '0000000000000000',
  sessionId: '0000000000000001',
  workerId: '6a1f0c52-8d0e-4f0b-9a53-1f6c2b7d9e10',
  number: '4000002',
  artifactId: '0'.repeat(64),
  secretName: 'NO_SUCH_SECRET',
  name: 'no-such-route',
  viewName: 'no-such-view',
  key: 'no-such-definition',
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
      // Their links have a signature or a secret.
      'GET /v1/links/:token',
      'GET /v1/reports/:report/:file',
      'GET /v1/sign-in',
      'GET /v1/sign-in/sso',
      'GET /v1/sign-in/sso/callback',
      'POST /v1/links/:token',
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
    for (const { name, method, url, access, ofDefaultTenant } of routes()) {
      const path = pathWith(url, MISSING);
      if (access === 'public') continue;
      const { status, code } = await callAs(app, null, method, path);
      seen.push(`${name} without key ${status} ${method === 'HEAD' ? 'UNAUTHORIZED' : code}`);
      expected.push(`${name} without key 401 UNAUTHORIZED`);
      for (const { tenant, scope, key } of keys) {
        const may = access === 'known' || mayDo([scope], access);
        const answer = await callAs(app, key, method, path);
        seen.push(`${name} by ${scope} of ${tenant} ${[401, 403].includes(answer.status)}`);
        expected.push(
          `${name} by ${scope} of ${tenant} ${!(may && !(ofDefaultTenant && tenant !== 'default'))}`,
        );
      }
    }
    expect(seen).toEqual(expected);
    expect(expected.length).toBeGreaterThan(300);
  });
});

describe('what belongs to another tenant', () => {
  const CANARY = 'no-other-tenant-may-read-this';

  it('is answered like what is not there, by every route, and stays as it is', async () => {
    const { key: owner, keyId } = await newKey(database, 'acme', 'admin');
    const { key: rival } = await newKey(database, 'rival', 'admin');
    const job = { definitionKey: 'secret.job', params: { note: CANARY }, hold: true };
    const made = await callAs(app, owner, 'POST', '/v1/jobs', { payload: job });
    const cron = { definitionKey: 'secret.job', cron: '@daily', params: { note: CANARY } };
    const planned = await callAs(app, owner, 'POST', '/v1/schedules', { payload: cron });
    const set = { payload: { name: CANARY, open: true } };
    const batch = await callAs(app, owner, 'POST', '/v1/batches', set);
    const many = { action: 'cancel', filter: { definitionKey: 'other.job' } };
    const begun = await callAs(app, owner, 'POST', '/v1/bulk', { payload: many });
    const hook = { url: `https://1.1.1.1/${CANARY}`, events: ['job.failed'] };
    const listening = await callAs(app, owner, 'POST', '/v1/webhooks', { payload: hook });
    const webhookId = String(listening.body['id']);
    const rule = { payload: { definitionKey: 'secret.job', threshold: 2 } };
    expect((await callAs(app, owner, 'PUT', '/v1/alerts/rules/stuck', rule)).status).toBe(200);
    const tested = await callAs(app, owner, 'POST', `/v1/webhooks/${webhookId}/test`);
    const archive = new PassThrough();
    packFixture(archive);
    const uploaded = await uploads.add('acme', { name: 'test', address: null }, archive, {
      expected: null,
      signature: null,
    });
    const { sha256: artifactId } = uploaded.artifact;
    await database.sql(
      `insert into longshore.deployment (number, tenant, sha256, keys, manifest, created_by, note)
       values (4000001, 'acme', $1, '{secret.job}', '{}', 'test', $2)`,
      [artifactId, CANARY],
    );
    await database.sql(
      `insert into longshore.definition (key, version, info, tenant)
       values ('secret.job', 1, $1, 'acme')`,
      [JSON.stringify(defineJob({ key: 'secret.job', run: () => null }).info)],
    );
    const secret = { payload: { value: CANARY } };
    expect((await callAs(app, owner, 'PUT', '/v1/secrets/THEIR_SECRET', secret)).status).toBe(200);
    const route = { payload: { channel: 'email', to: ['their-team@example.com'] } };
    const routed = await callAs(app, owner, 'PUT', '/v1/alerts/routes/their-route', route);
    expect(routed.status).toBe(200);
    const login = { payload: { key: owner }, headers: { origin: 'http://localhost' } };
    const signedIn = await callAs(app, null, 'POST', '/v1/session', login);
    expect(signedIn.status).toBe(201);
    const view = { payload: { screen: 'jobs', query: `tag=${CANARY}` } };
    expect((await callAs(app, owner, 'PUT', '/v1/views/their-view', view)).status).toBe(200);
    const theirs = {
      ...MISSING,
      viewName: 'their-view',
      batchId: String(batch.body['id']),
      key: 'secret.job',
      name: 'their-route',
      number: '4000001',
      artifactId,
      secretName: 'THEIR_SECRET',
      bulkId: String(begun.body['bulkId']),
      webhookId,
      deliveryId: String(tested.body['deliveryId']),
      jobId: String(made.body['jobId']),
      scheduleId: String(planned.body['id']),
      keyId,
      sessionId: String(signedIn.body['sessionId']),
    };

    for (const { name, method, url, access, ofDefaultTenant } of routes()) {
      // Workers over HTTP: test/integration/remote/remote-access.test.ts.
      if (!url.includes(':') || ofDefaultTenant || access === 'worker') continue;
      // Links to reports have a signature instead of a key: test/integration/http/reports.test.ts.
      if (access === 'public') continue;
      // They set a secret, a route, a view or a budget of the caller.
      if (/^PUT \/v1\/(secrets|views|budgets|alerts\/routes)\//.test(name)) continue;
      const change = url.includes('webhook') ? { status: 'paused' } : { enabled: false };
      const more = method === 'PATCH' ? { payload: change } : {};
      const streams = { headers: { accept: 'text/event-stream' } };
      for (const extra of url.match(/events|logs/) ? [more, streams] : [more]) {
        const foreign = await callAs(app, rival, method, pathWith(url, theirs), extra);
        const missing = await callAs(app, rival, method, pathWith(url, MISSING), extra);
        let answer = foreign.text;
        for (const id of Object.keys(MISSING) as (keyof typeof MISSING)[]) {
          answer = answer.replaceAll(theirs[id], MISSING[id]);
        }
        expect([name, foreign.status, answer]).toEqual([name, 404, missing.text]);
        expect([name, missing.status]).toEqual([name, 404]);
      }
      // To its owner it is there, so that the answers above mean something.
      // The job has not ended, so it has no result.
      if (method === 'GET' && !url.includes('keyId') && !url.endsWith('/result')) {
        const own = await callAs(app, owner, method, pathWith(url, theirs));
        expect([name, own.status]).toEqual([name, 200]);
      }
    }

    for (const { method, url, ofDefaultTenant } of routes()) {
      if (method !== 'GET' || url.includes(':') || ofDefaultTenant) continue;
      const { text } = await callAs(app, rival, method, url);
      const { jobId, scheduleId } = theirs;
      for (const secret of [
        CANARY,
        jobId,
        scheduleId,
        webhookId,
        keyId,
        theirs.sessionId,
        'secret.job',
        'THEIR_SECRET',
        'their-route',
        'their-team',
      ]) {
        expect(text).not.toContain(secret);
      }
    }
    const { body } = await callAs(app, owner, 'GET', `/v1/jobs/${theirs.jobId}`);
    expect(body).toMatchObject({ status: 'created', tenant: 'acme' });
    const schedule = await callAs(app, owner, 'GET', `/v1/schedules/${theirs.scheduleId}`);
    expect(schedule.body).toMatchObject({ enabled: true });
    const webhook = await callAs(app, owner, 'GET', `/v1/webhooks/${webhookId}`);
    expect(webhook.body).toMatchObject({ status: 'active' });
    expect((await callAs(app, owner, 'GET', '/v1/session')).status).toBe(200);
  });

  it('is not reached by its idempotency key', async () => {
    const { key: one } = await newKey(database, 'acme', 'jobs:write');
    const { key: two } = await newKey(database, 'rival', 'jobs:write');
    const payload = { definitionKey: 'a', idempotencyKey: 'same', params: { a: 1 } };
    const first = await callAs(app, one, 'POST', '/v1/jobs', { payload });
    const other = { payload: { ...payload, params: { a: 2 } } };
    const second = await callAs(app, two, 'POST', '/v1/jobs', other);
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
      const { body } = await callAs(app, key, 'GET', '/v1/workers');
      return (body['workers'] as { running: string[] }[]).flatMap(({ running }) => running).sort();
    };
    const idsOf = (tenant: string) =>
      rows.flatMap((row) => (row.tenant === tenant ? row.id : [])).sort();
    expect(idsOf('acme').length * idsOf('rival').length).toBeGreaterThan(0);
    expect(await runningFor('acme', 'admin')).toEqual(idsOf('acme'));
    expect(await runningFor('rival', 'jobs:read')).toEqual(idsOf('rival'));
    expect(await runningFor('default', 'jobs:read')).toEqual(idsOf('default'));
    expect(await runningFor('default', 'admin')).toEqual(rows.map(({ id }) => id).sort());
  });
});

describe('?tenant', () => {
  it('lets only an admin of the default tenant act for another one', async () => {
    const { key: host } = await newKey(database, 'default', 'admin');
    const payload = { definitionKey: 'a' };
    const made = await callAs(app, host, 'POST', '/v1/jobs?tenant=acme', { payload });
    const path = `/v1/jobs/${String(made.body['jobId'])}`;
    expect((await callAs(app, host, 'GET', `${path}?tenant=acme`)).body['tenant']).toBe('acme');
    expect((await callAs(app, host, 'GET', path)).status).toBe(404);
    const unknown = await callAs(app, host, 'GET', '/v1/jobs?tenant=unknown');
    expect([unknown.status, unknown.code]).toEqual([404, 'NOT_FOUND']);
    expect((await callAs(app, host, 'GET', '/v1/jobs?tenant=NO%20NAME')).status).toBe(400);
    for (const [tenant, scope] of [
      ['acme', 'admin'],
      ['default', 'operate'],
      ['default', 'jobs:read'],
    ] as const) {
      const { key } = await newKey(database, tenant, scope);
      for (const other of ['rival', 'unknown']) {
        const { status } = await callAs(app, key, 'GET', `/v1/jobs?tenant=${other}`);
        expect([tenant, scope, other, status]).toEqual([tenant, scope, other, 403]);
      }
    }
    const { key } = await newKey(database, 'acme', 'jobs:read');
    expect((await callAs(app, key, 'GET', `${path}?tenant=acme`)).status).toBe(200);
  });
});
