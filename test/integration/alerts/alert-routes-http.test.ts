import { afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { callAs, newKey, newTenant, serverOn, sharedServer } from '../../support/server-edge.ts';
import { sharedDatabase } from '../../support/servers/database.ts';

const database = sharedDatabase();
const app = sharedServer(database);
let key: string;
let other: string;
let reader: string;

beforeAll(async () => {
  ({ key } = await newKey(database, 'default', 'operate'));
  ({ key: reader } = await newKey(database, 'default', 'jobs:read'));
  await newTenant(database, 'tenant-b');
  ({ key: other } = await newKey(database, 'tenant-b', 'admin'));
});
afterEach(async () => await database.sql('delete from longshore.alert_route'));

const PATH = '/v1/alerts/routes';
const MAIL = { channel: 'email', to: ['oncall@example.com'] };
// A name that cannot be looked up now is accepted.
const CHAT = { channel: 'slack', url: 'https://hooks.chat.invalid/services/T0/canary-of-the-url' };

const put = async (name: string, payload: unknown, by = key) =>
  await callAs(app, by, 'PUT', `${PATH}/${name}`, { payload });
const routes = async (by = key) =>
  (await callAs(app, by, 'GET', PATH)).body['routes'] as Record<string, unknown>[];

describe('a route', () => {
  it('is created, replaced, listed and deleted, and each change is audited', async () => {
    const made = await put('on-call', MAIL);
    expect([made.status, made.body]).toEqual([
      200,
      expect.objectContaining({
        ...MAIL,
        name: 'on-call',
        tenant: 'default',
        urlHost: null,
        rules: null,
        owners: null,
        definitionKeys: null,
        quietHours: null,
        groupSeconds: 60,
        enabled: true,
      }),
    ]);
    const quietHours = { from: '22:00', to: '07:00', timezone: 'Europe/Berlin', days: ['mon'] };
    const change = { ...MAIL, quietHours, owners: ['team-a'], rules: ['stuck'], groupSeconds: 0 };
    expect((await put('on-call', change)).body).toMatchObject(change);
    expect(await routes()).toMatchObject([{ name: 'on-call', ...change }]);
    const mistyped = await callAs(app, key, 'POST', `${PATH}/oncall/test`);
    expect([mistyped.status, mistyped.body['detail']]).toEqual([
      404,
      'alert route "oncall" not found: did you mean "on-call"?',
    ]);
    expect((await callAs(app, key, 'DELETE', `${PATH}/on-call`)).status).toBe(204);
    expect((await callAs(app, key, 'DELETE', `${PATH}/on-call`)).status).toBe(404);
    const { key: admin } = await newKey(database, 'default', 'admin');
    const audit = await callAs(app, admin, 'GET', '/v1/audit?subject=on-call');
    const entries = audit.body['entries'] as { action: string; after: unknown }[];
    expect(entries.map(({ action }) => action)).toEqual([
      'alert-route.delete',
      'alert-route.save',
      'alert-route.save',
    ]);
    expect(entries[1]?.after).toEqual({
      quietHours,
      owners: ['team-a'],
      rules: ['stuck'],
      groupSeconds: 0,
    });
    expect(entries[2]?.after).toMatchObject({ ...MAIL, groupSeconds: 60, enabled: true });
  });

  it('by e-mail warns where no mail server is set', async () => {
    const without = serverOn(database, { hasMail: false });
    onTestFinished(async () => await without.close());
    const saved = async (server: typeof app, payload: unknown) =>
      (await callAs(server, key, 'PUT', `${PATH}/night`, { payload })).body['warnings'];
    expect(await saved(without, MAIL)).toEqual([expect.stringContaining('LONGSHORE_SMTP_URL')]);
    expect(await saved(without, CHAT)).toEqual([]);
    expect(await saved(app, MAIL)).toEqual([]);
  });

  it('never shows the URL of a chat, and keeps it', async () => {
    const made = await put('chat', CHAT);
    expect(made.body).toMatchObject({ channel: 'slack', to: [], urlHost: 'hooks.chat.invalid' });
    const { url: _url, ...without } = CHAT;
    expect((await put('chat', { ...without, owners: ['a'] })).status).toBe(200);
    const stored = await database.sql<{ url: string }>('select url from longshore.alert_route');
    expect(stored).toEqual([{ url: CHAT.url }]);
    const { key: admin } = await newKey(database, 'default', 'admin');
    const audit = await callAs(app, admin, 'GET', '/v1/audit?subject=chat');
    expect(JSON.stringify([made.body, await routes(), audit.body])).not.toContain('canary');
    // The URL of another chat cannot be used.
    const moved = await put('chat', { channel: 'discord' });
    expect([moved.status, moved.text]).toEqual([
      400,
      expect.stringContaining('/url: is required for discord'),
    ]);
  });

  it('is of one tenant, and for keys that may operate', async () => {
    await put('on-call', MAIL);
    expect(await routes(other)).toEqual([]);
    for (const [method, path] of [
      ['DELETE', `${PATH}/on-call`],
      ['POST', `${PATH}/on-call/test`],
      ['GET', `${PATH}/on-call/messages`],
    ] as const) {
      expect((await callAs(app, other, method, path)).status).toBe(404);
    }
    expect((await callAs(app, reader, 'GET', PATH)).status).toBe(403);
    expect((await put('on-call', MAIL, reader)).status).toBe(403);
    expect((await put('on-call', { ...MAIL, to: ['b@example.com'] }, other)).status).toBe(200);
    expect(await routes()).toMatchObject([MAIL]);
  });

  it('lists its messages page by page', async () => {
    await put('on-call', MAIL);
    const ids: unknown[] = [];
    for (let n = 0; n < 3; n += 1) {
      const made = await callAs(app, key, 'POST', `${PATH}/on-call/test`);
      expect(made.status).toBe(202);
      ids.unshift(made.body['messageId']);
    }
    const page = await callAs(app, key, 'GET', `${PATH}/on-call/messages?limit=2`);
    expect(page.body['messages']).toMatchObject([
      { id: ids[0], route: 'on-call', kind: 'test', status: 'pending', attempts: [] },
      { id: ids[1] },
    ]);
    const cursor = String(page.body['nextCursor']);
    expect(page.headers['link']).toContain(cursor);
    const rest = await callAs(app, key, 'GET', `${PATH}/on-call/messages?cursor=${cursor}`);
    expect(rest.body).toMatchObject({ messages: [{ id: ids[2] }], nextCursor: null });
    const job = await callAs(app, reader, 'GET', `/v1/jobs/${String(ids[0])}`);
    expect(job.body).toMatchObject({ definitionKey: '$alert', maxAttempts: 1 });
  });

  it('cannot be one of too many', async () => {
    await database.sql(`insert into longshore.alert_route
        (id, tenant, name, channel, recipients, group_seconds, enabled)
      select gen_random_uuid(), 'default', 'n' || n, 'email', '{a@x}', 0, true
      from generate_series(1, 100) n`);
    expect((await put('one-more', MAIL)).code).toBe('QUOTA_EXCEEDED');
    expect((await put('n1', MAIL)).status).toBe(200);
  });

  it.each([
    ['On Call', MAIL, '/name: must be 1 to 63 lower-case letters'],
    ['a', { channel: 'mail' }, 'did you mean "email"?'],
    ['a', { channel: 'email' }, '/to: is required for email'],
    ['a', { channel: 'email', to: ['oncall'] }, 'must be an e-mail address'],
    ['a', { channel: 'email', to: ['a@x', 'b@x\r\nBcc: c@x'] }, 'must be an e-mail address'],
    ['a', { channel: 'email', to: ['a@x,b@x'] }, 'must be an e-mail address'],
    ['a', { ...MAIL, url: CHAT.url }, '/url: is for chats only'],
    ['a', { channel: 'slack' }, '/url: is required for slack'],
    ['a', { ...CHAT, to: ['a@x'] }, '/to: is for email only'],
    ['a', { ...CHAT, url: 'http://127.0.0.1/' }, '/url: the address is not allowed'],
    ['a', { ...MAIL, rules: ['stuk'] }, 'did you mean "stuck"?'],
    ['a', { ...MAIL, groupSeconds: 3_601 }, 'from 0 to 3600'],
    ['a', { ...MAIL, quietHours: { from: '25:00', to: '07:00' } }, 'must be a time of the day'],
    [
      'a',
      { ...MAIL, quietHours: { from: '22:00', to: '07:00', timezone: 'Mars/Base' } },
      'must be an IANA time zone',
    ],
    [
      'a',
      { ...MAIL, quietHours: { from: '07:00', to: '07:00' } },
      'must leave some time in which alerts are sent',
    ],
  ])('is refused as %s %j', async (name, payload, words) => {
    const answer = await put(encodeURIComponent(name), payload);
    expect(answer.status).toBe(400);
    expect(answer.text.replaceAll('\\"', '"')).toContain(words);
  });
});
