import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { formatApiKey, parseApiKey } from '../../../src/core/access/api-key.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { HttpServer } from '../../../src/http/server.ts';
import { withKeyDesk } from '../../../src/app/keys-app.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { pruneAudit } from '../../../src/store/change/prune-audit.ts';
import { emptyDatabase, testDatabase, sharedDatabase } from '../../support/servers/database.ts';
import { type Answer, serverOn, callAs, newKey, newTenant } from '../../support/server-edge.ts';
import { claimAny, enqueueOne, newWorker } from '../../support/jobs.ts';
import { listen } from '../../support/servers/live-stream.ts';
import { until } from '../../support/until.ts';

/** Keys, sessions and the audit log, by two servers on one database. */
const database = sharedDatabase();
let here: FastifyInstance;
let elsewhere: FastifyInstance;

beforeAll(async () => {
  here = serverOn(database);
  elsewhere = serverOn(database);
});
afterAll(async () => {
  await here.close();
  await elsewhere.close();
});

const who = async (app: FastifyInstance, key: string | null, headers?: Record<string, string>) =>
  await callAs(app, key, 'GET', '/v1/session', headers ? { headers } : {});
const isOut = async (app: FastifyInstance, key: string) => (await who(app, key)).status === 401;

describe('a server on loopback', () => {
  it('is open until the first key exists, and then closed everywhere', async () => {
    const fresh = await testDatabase();
    const [one, other] = [serverOn(fresh), serverOn(fresh)];
    const lan = serverOn(fresh, { host: '0.0.0.0' });
    onTestFinished(async () => {
      await Promise.all([one.close(), other.close(), lan.close()]);
      await fresh.close();
    });
    expect((await who(other, null)).body).toMatchObject({ kind: 'open', tenant: 'default' });
    expect((await who(lan, null)).status).toBe(401);
    await newTenant(fresh, 'acme');
    const deps = { ...fresh, log: silentLog, host: '0.0.0.0', port: 0, version: '0' };
    const refused = new HttpServer(deps);
    await expect(refused.start()).rejects.toThrow('npx longshore keys create');
    for (const [path, scopes] of [
      ['/v1/keys', ['jobs:read', 'operate']],
      ['/v1/keys?tenant=acme', ['admin']],
    ] as const) {
      const locking = await callAs(one, null, 'POST', path, { payload: { name: 'one', scopes } });
      expect([locking.status, locking.text]).toEqual([
        400,
        expect.stringContaining('The first key must have the scope admin'),
      ]);
    }
    expect((await who(one, null)).body).toMatchObject({ kind: 'open' });
    const payload = { name: 'first', scopes: ['admin'] };
    const made = await callAs(one, null, 'POST', '/v1/keys', { payload });
    expect(made.status).toBe(201);
    await until('both are closed', async () => {
      const answers = await Promise.all([who(one, null), who(other, null)]);
      return answers.every(({ status }) => status === 401);
    });
    expect((await who(other, String(made.body['key']))).body).toMatchObject({ kind: 'key' });
    // Not even when the last key is gone.
    const path = `/v1/keys/${String(made.body['keyId'])}`;
    expect((await callAs(one, String(made.body['key']), 'DELETE', path)).status).toBe(204);
    expect((await who(other, null)).status).toBe(401);
    await refused.start();
    await refused.stop();
  });
});

describe('a key', () => {
  it('is kept as a hash only, and shown once', async () => {
    const { key: admin } = await newKey(database, 'default', 'admin');
    const payload = { name: 'ci', scopes: ['jobs:read', 'jobs:read'] };
    const made = await callAs(here, admin, 'POST', '/v1/keys', { payload });
    const key = String(made.body['key']);
    const listed = await callAs(here, admin, 'GET', '/v1/keys');
    expect(listed.body['keys']).toContainEqual(
      expect.objectContaining({ name: 'ci', scopes: ['jobs:read'], status: 'active' }),
    );
    const secret = parseApiKey(key)?.secret ?? 'none';
    const rows = await database.sql(`select row_to_json(k) from longshore.api_key k
      union all select row_to_json(a) from longshore.audit a`);
    expect(JSON.stringify(rows)).not.toContain(secret);
    expect(listed.text).not.toContain(secret);
    for (const wrong of [{ scopes: ['admin'] }, { name: 'x', scopes: [] }, { name: 'x' }]) {
      expect((await callAs(here, admin, 'POST', '/v1/keys', { payload: wrong })).status).toBe(400);
    }
    const typo = { name: 'x', scopes: ['job:read'] };
    expect((await callAs(here, admin, 'POST', '/v1/keys', { payload: typo })).text).toContain(
      'did you mean \\"jobs:read\\"',
    );
  });

  it('that does not count is refused with one answer, whatever the reason', async () => {
    const good = await newKey(database, 'default', 'admin');
    const { id, secret } = parseApiKey(good.key)!;
    const gone = await newKey(database, 'default', 'admin');
    await callAs(here, good.key, 'DELETE', `/v1/keys/${gone.keyId}`);
    const old = await newKey(database, 'default', 'admin');
    await database.sql(
      `update longshore.api_key set expires_at = clock_timestamp() - interval '1 second'
       where id = $1`,
      [old.keyId],
    );
    const answers = [
      await who(here, 'lsk_mistyped'),
      await who(here, formatApiKey({ id: 'f'.repeat(16), secret })),
      await who(here, formatApiKey({ id, secret: 'f'.repeat(64) })),
      await who(here, gone.key),
      await who(here, old.key),
      await who(here, null),
      await who(here, null, { authorization: `Basic ${good.key}` }),
      await who(here, null, { authorization: good.key }),
      await callAs(here, null, 'POST', '/v1/session', { payload: { key: gone.key } }),
    ];
    for (const answer of answers) {
      expect([answer.status, answer.text]).toEqual([401, answers[0]?.text]);
      expect(answer.headers['www-authenticate']).toBe('Bearer');
    }
    const inQuery = await callAs(here, null, 'GET', `/v1/jobs?key=${good.key}`);
    expect(inQuery.status).toBe(401);
  });

  it('that was revoked is refused by every server, and its streams end', async () => {
    const { key: admin } = await newKey(database, 'default', 'admin');
    const { key, keyId } = await newKey(database, 'default', 'jobs:read');
    const jobId = await enqueueOne(database, { hold: true });
    const server = new HttpServer({
      ...database,
      log: silentLog,
      host: '127.0.0.1',
      port: 0,
      version: '0',
      streams: { pollMs: 5, pollMaxMs: 5 },
    });
    await server.start();
    onTestFinished(async () => await server.stop());
    const authorization = `Bearer ${key}`;
    const stream = await listen(`${server.address}/v1/jobs/${jobId}/events`, { authorization });
    expect(stream.response.status).toBe(200);
    expect((await who(elsewhere, key)).status).toBe(200);
    expect((await callAs(here, admin, 'DELETE', `/v1/keys/${keyId}`)).status).toBe(204);
    await until('the other server refuses it', async () => await isOut(elsewhere, key));
    await stream.closed;
    expect(stream.messages.map(({ event }) => event)).not.toContain('end');
    expect((await callAs(here, admin, 'DELETE', `/v1/keys/${keyId}`)).status).toBe(204);
  });

  it('can be replaced, and goes on for the overlap', async () => {
    const { key: admin } = await newKey(database, 'default', 'admin');
    const { key, keyId } = await newKey(database, 'default', 'jobs:read', 'operate');
    const rotate = async (overlapSeconds?: number): Promise<Answer> =>
      await callAs(here, admin, 'POST', `/v1/keys/${keyId}/rotate`, {
        payload: overlapSeconds === undefined ? {} : { overlapSeconds },
      });
    const next = await rotate(3_600);
    expect(next.status).toBe(201);
    const successor = String(next.body['key']);
    expect((await who(here, key)).status).toBe(200);
    expect((await who(here, successor)).body['scopes']).toEqual(['jobs:read', 'operate']);
    expect([(await rotate()).status, (await rotate()).code]).toEqual([409, 'CONFLICT']);
    const nextId = String(next.body['keyId']);
    const path = `/v1/keys/${nextId}/rotate`;
    const atOnce = { payload: { overlapSeconds: 0 } };
    expect((await callAs(here, admin, 'POST', path, atOnce)).status).toBe(201);
    await until('the old one has expired', async () => await isOut(here, successor));
    const keys = (await callAs(here, admin, 'GET', '/v1/keys')).body['keys'] as object[];
    expect(keys).toContainEqual(expect.objectContaining({ keyId: nextId, status: 'expired' }));
  });
});

it('a mistyped tenant is answered with the nearest one, for those who see all tenants', async () => {
  await newTenant(database, 'acme-shop');
  const admin = (await newKey(database, 'default', 'admin')).key;
  const near = await callAs(here, admin, 'GET', '/v1/jobs?tenant=amce-shop');
  expect([near.status, near.text]).toEqual([
    404,
    expect.stringContaining('did you mean \\"acme-shop'),
  ]);
  const far = await callAs(here, admin, 'PATCH', '/v1/tenants/nothing-like-it/limits', {
    payload: { weight: 2 },
  });
  expect([far.status, far.text]).toEqual([404, expect.stringContaining('tenants create nothing')]);
  const other = (await newKey(database, 'acme-shop', 'admin')).key;
  const refused = await callAs(here, other, 'GET', '/v1/jobs?tenant=amce-shop');
  expect([refused.status, refused.text.includes('acme-shop')]).toEqual([403, false]);
});

describe('longshore keys', () => {
  it('makes the first key of a database that is not migrated yet', async () => {
    const { url, drop } = await emptyDatabase();
    onTestFinished(drop);
    const { config } = loadConfig({ env: { DATABASE_URL: url }, directory: '/nowhere' });
    await withKeyDesk(config, silentLog, { makesCluster: true }, async (desk) => {
      const newKeyFields = { name: 'first', scopes: ['admin'], expiresAt: null } as const;
      const reading = { ...newKeyFields, scopes: ['jobs:read'], tenant: 'default' } as const;
      await expect(desk.create(reading)).rejects.toThrow('The first key must have the scope admin');
      expect(await desk.list('default')).toEqual([]);
      const { key, keyId } = await desk.create({ ...newKeyFields, tenant: 'default' });
      expect(parseApiKey(key)?.id).toBe(keyId);
      await expect(desk.create({ ...newKeyFields, tenant: 'unknown' })).rejects.toThrow(
        'tenant "unknown" not found',
      );
      expect(await desk.rotate('default', keyId, 0)).toMatchObject({ keyId: expect.any(String) });
      expect(await desk.revoke('unknown', keyId)).toBe(false);
      expect(await desk.revoke('default', keyId)).toBe(true);
      const statuses = (await desk.list('default')).map(({ status }) => status);
      expect(statuses).toEqual(['revoked', 'active']);
    });
  });
});

describe('a session', () => {
  const OWN = { origin: 'http://localhost' };
  const login = async (key: string, headers: Record<string, string> = OWN) => {
    const answer = await callAs(here, null, 'POST', '/v1/session', { payload: { key }, headers });
    const cookie = String(answer.headers['set-cookie']);
    return { answer, cookie, headers: { cookie: cookie.split(';')[0] ?? '' } };
  };

  it('may do what its key may, by a cookie that only this server and no script can read', async () => {
    const { key, keyId } = await newKey(database, 'default', 'jobs:read');
    const { answer, cookie, headers } = await login(key);
    expect(answer.body).toMatchObject({ kind: 'session', scopes: ['jobs:read'], keyId });
    expect(cookie).toMatch(
      /^longshore_session=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/,
    );
    const secured = await login(key, { origin: 'https://localhost' });
    expect(secured.cookie).toMatch(/^__Host-longshore_session=.*; Secure$/);
    expect(secured.headers.cookie).not.toBe(headers.cookie);
    expect((await who(elsewhere, null, headers)).body).toMatchObject({ kind: 'session', keyId });
    expect((await callAs(here, null, 'GET', '/v1/jobs', { headers })).status).toBe(200);
    const write = { headers: { ...headers, ...OWN }, payload: { definitionKey: 'a' } };
    expect((await callAs(here, null, 'POST', '/v1/jobs', write)).status).toBe(403);
    const stored = await database.sql('select encode(id_hash, $1) as hash from longshore.session', [
      'hex',
    ]);
    expect(JSON.stringify(stored)).not.toContain(headers.cookie.split('=')[1]);
  });

  it('is of no use to another site', async () => {
    const { key } = await newKey(database, 'default', 'jobs:write');
    const { headers } = await login(key);
    const post = async (more: Record<string, string>) =>
      await callAs(here, null, 'POST', '/v1/jobs', {
        payload: { definitionKey: 'a' },
        headers: { ...headers, ...more },
      });
    for (const foreign of [
      {},
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site', ...OWN },
    ]) {
      expect((await post(foreign)).status).toBe(403);
    }
    expect((await post(OWN)).status).toBe(202);
    expect((await post({ 'sec-fetch-site': 'same-origin' })).status).toBe(202);
    const fromAfar = await login(key, { origin: 'https://evil.example' });
    expect(fromAfar.answer.status).toBe(403);
  });

  it.each([
    ['the user logs out', 'logout'],
    ['it was unused for an hour', `seen_at = clock_timestamp() - interval '61 minutes'`],
    ['its time is over', `expires_at = clock_timestamp()`],
    ['its key is revoked', 'revoke'],
  ])('ends when %s', async (_, how) => {
    const { key: admin } = await newKey(database, 'default', 'admin');
    const { key, keyId } = await newKey(database, 'default', 'jobs:read');
    const { headers } = await login(key);
    expect((await who(elsewhere, null, headers)).status).toBe(200);
    if (how === 'logout') {
      const answer = await callAs(here, null, 'DELETE', '/v1/session', {
        headers: { ...headers, ...OWN },
      });
      expect(String(answer.headers['set-cookie'])).toContain('Max-Age=0');
      expect((await who(here, null, headers)).status).toBe(401);
    } else if (how === 'revoke') {
      await callAs(here, admin, 'DELETE', `/v1/keys/${keyId}`);
    } else {
      await database.sql(`update longshore.session set ${how} where key_id = $1`, [keyId]);
    }
    await until('it is over everywhere', async () => {
      return (await who(elsewhere, null, headers)).status === 401;
    });
  });
});

describe('the audit log', () => {
  it('records actor, action, subject, changes and address', async () => {
    const { key, keyId } = await newKey(database, 'default', 'admin');
    const worker = await newWorker(database);
    const held = await enqueueOne(database, { hold: true });
    const queued = await enqueueOne(database);
    await claimAny(database, worker, 100);
    const post = async (path: string, payload?: unknown) =>
      (await callAs(here, key, 'POST', path, payload === undefined ? {} : { payload })).body;
    await post(`/v1/jobs/${held}/release`);
    await post(`/v1/jobs/${held}/cancel`);
    await post(`/v1/jobs/${queued}/cancel`);
    const cron = { definitionKey: 'a', cron: '@daily', params: { password: 'canary' } };
    const schedule = String((await post('/v1/schedules', cron))['id']);
    await post(`/v1/schedules/${schedule}/pause`);
    await post(`/v1/schedules/${schedule}/resume`);
    await post(`/v1/schedules/${schedule}/pause`, { reason: 'the bank is closed' });
    const patch = { payload: { params: { password: 'canary2' }, priority: 3 } };
    await callAs(here, key, 'PATCH', `/v1/schedules/${schedule}`, patch);
    const { jobId } = await post(`/v1/schedules/${schedule}/trigger`);
    await callAs(here, key, 'DELETE', `/v1/schedules/${schedule}`);
    await post(`/v1/workers/${worker}/drain`);
    await post('/v1/tenants', { tenant: 'made-here' });
    await post('/v1/tenants', { tenant: 'made-here' });
    await post(`/v1/jobs/${held}/cancel`);

    const { body, text } = await callAs(here, key, 'GET', `/v1/audit?actor=key:${keyId}`);
    const entries = body['entries'] as Record<string, unknown>[];
    expect(
      entries.map(({ action, subject, before, after }) => [action, subject, before, after]),
    ).toEqual([
      ['tenant.create', 'made-here', null, null],
      ['worker.drain', worker, null, null],
      ['schedule.delete', schedule, { name: null, definitionKey: 'a', cron: '@daily' }, null],
      ['schedule.trigger', schedule, null, { jobId }],
      ['schedule.change', schedule, { priority: 0 }, { priority: 3, params: 'changed' }],
      [
        'schedule.change',
        schedule,
        { enabled: true, reason: null },
        { enabled: false, reason: 'the bank is closed' },
      ],
      ['schedule.change', schedule, { enabled: false }, { enabled: true }],
      ['schedule.change', schedule, { enabled: true }, { enabled: false }],
      [
        'schedule.create',
        schedule,
        null,
        { name: null, definitionKey: 'a', cron: '@daily', timezone: 'UTC', enabled: true },
      ],
      ['job.cancel', queued, { status: 'running' }, { status: 'cancelling' }],
      ['job.cancel', held, { status: 'queued' }, { status: 'cancelled' }],
      ['job.release', held, { status: 'created' }, { status: 'queued' }],
    ]);
    expect(entries.every(({ address }) => address === '127.0.0.1')).toBe(true);
    expect(new Set(entries.map(({ actor }) => actor))).toEqual(new Set([`key:${keyId} (admin)`]));
    expect(text).not.toContain('canary');
    const made = await callAs(here, key, 'GET', '/v1/audit?tenant=made-here');
    expect(made.body['entries']).toMatchObject([{ action: 'tenant.create', subject: 'made-here' }]);
    const ofJob = await callAs(here, key, 'GET', `/v1/audit?subject=${held}&action=job.cancel`);
    expect(ofJob.body['entries']).toHaveLength(1);
  });

  it('is read page by page, by time, and by its own tenant only', async () => {
    await newTenant(database, 'acme');
    const { key } = await newKey(database, 'acme', 'admin');
    for (let n = 0; n < 4; n += 1) await newKey(database, 'acme', 'jobs:read');
    const seen: string[] = [];
    let url: string | null = '/v1/audit?limit=2';
    while (url !== null) {
      const { body } = await callAs(here, key, 'GET', url);
      const entries = body['entries'] as { id: string; tenant: string }[];
      expect(entries.every(({ tenant }) => tenant === 'acme')).toBe(true);
      seen.push(...entries.map(({ id }) => id));
      const cursor = body['nextCursor'] as string | null;
      url = cursor === null ? null : `/v1/audit?limit=2&cursor=${cursor}`;
    }
    expect(seen).toHaveLength(6);
    expect(seen).toEqual([...new Set(seen)].sort().reverse());
    const later = await callAs(here, key, 'GET', '/v1/audit?after=2090-01-01T00:00:00Z');
    expect(later.body['entries']).toEqual([]);
    expect((await callAs(here, key, 'GET', '/v1/audit?cursor=x')).status).toBe(400);
    const foundBy = async (query: string) =>
      (await callAs(here, key, 'GET', `/v1/audit?${query}`)).body['entries'] as { id: string }[];
    expect(await foundBy('q=EY.CREA')).toHaveLength(5);
    expect(await foundBy('q=jobs%3Aread')).toHaveLength(4);
    expect(await foundBy('q=%25')).toEqual([]);
    expect(await foundBy('q=made-here')).toEqual([]);
    expect(await foundBy('q=EY.CREA&before=2020-01-01T00:00:00Z')).toEqual([]);
    const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
    expect(await foundBy(`q=EY.CREA&after=${hourAgo}&before=2090-01-01T00:00:00Z`)).toHaveLength(5);
  });

  it('only accepts new entries, from any user', async () => {
    for (const change of [
      `update longshore.audit set actor = 'changed'`,
      'delete from longshore.audit',
      'truncate longshore.audit',
    ]) {
      await expect(database.sql(change)).rejects.toThrow('append-only');
    }
  });

  it('deletes what is past its retention, page by page, and logs it', async () => {
    await database.sql(
      `insert into longshore.audit (id, at, tenant, actor, action, subject)
       select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid,
         now() - make_interval(days => 34 - n), 'acme', 'key:x', 'old', n::text
       from generate_series(1, 5) n`,
    );
    const old = async () =>
      (await database.sql(`select from longshore.audit where action = 'old'`)).length;
    expect(await pruneAudit(database.db, 400)).toBe(false);
    expect(await old()).toBe(5);
    // Of those that are 33, 32, 31, 30 and 29 days old, the last two are too young.
    expect([await pruneAudit(database.db, 31, 2), await old()]).toEqual([true, 3]);
    expect([await pruneAudit(database.db, 31, 2), await old()]).toEqual([false, 2]);
    await expect(pruneAudit(database.db, 1)).rejects.toThrow('append-only');
    const pruned = await database.sql<{ after: unknown }>(
      `select after from longshore.audit where action = 'audit.prune' order by id`,
    );
    expect(pruned.map(({ after }) => after)).toEqual([
      { entries: 2, olderThanDays: 31 },
      { entries: 1, olderThanDays: 31 },
    ]);
  });
});
