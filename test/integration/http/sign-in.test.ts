import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { inspectSignIn } from '../../../src/doctor/facts/sign-in.ts';
import { localSignIn } from '../../../src/app/identity/local-sign-in.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { parseGroupRules } from '../../../src/core/identity/group-rules.ts';
import type { HttpDeps } from '../../../src/http/deps.ts';
import type { Clock } from '../../../src/runtime/clock.ts';
import { SignIn } from '../../../src/identity/sign-in.ts';
import { blocksOf } from '../../support/checks/docs-blocks.ts';
import { CLIENT, IdentityProvider } from '../../support/identity/identity-provider.ts';
import { Visitor } from '../../support/identity/visitor.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { callAs, newKey, newTenant, serverOn } from '../../support/server-edge.ts';
import { until } from '../../support/until.ts';

/** Sign-in through a real OpenID provider, by two API processes behind one address with a path. */
const PUBLIC_URL = 'http://127.0.0.1:4499/jobs';
const USERS = {
  ada: { name: 'Ada', email: 'ada@example.com', email_verified: true, groups: ['ops', 'acme'] },
  dev: { name: 'Dev <b>', groups: ['dev', 'all'] },
  both: { name: 'Both', groups: ['acme', 'dev'] },
  lost: { name: 'Lost', groups: ['ghosts'] },
  stranger: { name: 'Stranger', groups: ['staff', 'a<b>'] },
  loner: { name: 'Loner' },
};
const GROUPS =
  'ops=admin,dev=jobs:write,all=jobs:read,acme=jobs:read@acme,ghosts=jobs:read@no-such-tenant';
/** A port that no server listens on, below those of outgoing connections. */
const NO_SERVER = 'http://localhost:19999';
const OWN = { origin: 'http://localhost' };

const database = sharedDatabase();
let idp: IdentityProvider;
let here: FastifyInstance;
let elsewhere: FastifyInstance;
let lines: string[] = [];
let nowMs: number | null = null;
const clock: Clock = {
  now: () => new Date(nowMs ?? Date.now()),
  monotonicMs: () => performance.now(),
  random: () => Math.random(),
};

const signInWith = (settings: Partial<ConstructorParameters<typeof SignIn>[0]> = {}) => {
  const parsed = parseGroupRules(GROUPS);
  if (!parsed.ok) throw new Error(parsed.problem);
  const { rules } = parsed;
  const asked = { scopes: 'openid profile email groups', groupsClaim: 'groups' };
  const { issuer } = idp;
  return new SignIn(
    { issuer, ...CLIENT, ...asked, publicUrl: PUBLIC_URL, rules, ...settings },
    clock,
  );
};
const log = pino({ level: 'debug' }, { write: (line) => void lines.push(line) });
const server = (more: Partial<HttpDeps> = {}) =>
  serverOn(database, { log, signIn: signInWith(), ...more });

beforeAll(async () => {
  // The provider warns on the console that it is one for tests.
  for (const method of ['info', 'warn'] as const) vi.spyOn(console, method).mockReturnValue();
  idp = await IdentityProvider.start(PUBLIC_URL, USERS);
  here = server();
  elsewhere = server();
  await newTenant(database, 'acme');
});
afterAll(async () => {
  await Promise.all([here.close(), elsewhere.close()]);
  await idp.stop();
});
beforeEach(() => {
  lines = [];
});
afterEach(() => {
  idp.changeClaims = null;
  idp.signsWrongly = false;
  nowMs = null;
});

const visitor = (at = here) => new Visitor(PUBLIC_URL, at);
const who = async (cookie: string, app = here) =>
  await callAs(app, null, 'GET', '/v1/session', { headers: { cookie } });

describe('a sign-in', () => {
  it('begins at one process, ends at another, and is a session of the user at both', async () => {
    const browser = visitor();
    const back = await browser.authorize('ada', '?to=/ui/jobs%3Fstatus=failed');
    expect(browser.cookie).toMatch(/^longshore_sign_in=[\w-]+$/);
    browser.server = elsewhere;
    const { status, location, cookies } = await browser.visit(back);
    expect([status, location]).toEqual([302, `${PUBLIC_URL}/ui/jobs?status=failed`]);
    expect(cookies).toEqual([
      expect.stringMatching(
        /^longshore_session=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/,
      ),
      'longshore_sign_in=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0',
    ]);
    const user = {
      issuer: idp.issuer,
      subject: 'ada',
      name: 'Ada',
      email: 'ada@example.com',
    };
    for (const app of [here, elsewhere]) {
      expect((await who(browser.cookie, app)).body).toEqual({
        kind: 'session',
        // An admin of the default tenant can act for all others.
        tenant: 'default',
        scopes: ['admin'],
        keyId: null,
        sessionId: expect.stringMatching(/^[0-9a-f]{16}$/),
        user,
        expiresAt: expect.any(String),
      });
    }
  });

  it('gives the scopes of all groups of the user, and no more', async () => {
    const browser = visitor();
    await browser.signIn('dev');
    const headers = { cookie: browser.cookie };
    expect((await who(browser.cookie)).body['scopes']).toEqual(['jobs:read', 'jobs:write']);
    expect((await callAs(here, null, 'GET', '/v1/jobs', { headers })).status).toBe(200);
    expect((await callAs(here, null, 'GET', '/v1/keys', { headers })).status).toBe(403);
    expect((await callAs(here, null, 'GET', '/v1/jobs?tenant=acme', { headers })).status).toBe(403);
    const write = { headers: { ...headers, ...OWN }, payload: { definitionKey: 'a', hold: true } };
    const made = await callAs(here, null, 'POST', '/v1/jobs', write);
    expect(made.status).toBe(202);
    const foreign = { ...write, headers: { ...headers, origin: 'https://evil.example' } };
    expect((await callAs(here, null, 'POST', '/v1/jobs', foreign)).status).toBe(403);
    const path = `/v1/jobs/${String(made.body['jobId'])}/cancel`;
    const cancel = await callAs(here, null, 'POST', path, { headers: { ...headers, ...OWN } });
    expect(cancel.status).toBe(202);
    const audit = await database.sql(
      `select tenant, actor, action, address from longshore.audit
       where actor like 'user:Dev%' order by id`,
    );
    const by = { tenant: 'default', actor: 'user:Dev <b> (dev)', address: '127.0.0.1' };
    expect(audit).toEqual([
      { ...by, action: 'session.begin' },
      { ...by, action: 'job.cancel' },
    ]);
  });

  it('lets a user of several tenants choose one', async () => {
    const browser = visitor();
    const { status, text } = await browser.signIn('both', '?to=/ui/workers');
    expect([status, browser.cookie]).toEqual([200, '']);
    const choices = [...text.matchAll(/href="([^"]*tenant=(\w+)[^"]*)"/g)];
    expect(choices.map(([, , tenant]) => tenant)).toEqual(['default', 'acme']);
    const url = new URL(choices[1]?.[1]?.replaceAll('&amp;', '&') ?? '');
    const chosen = await browser.signIn('both', url.search);
    expect(chosen.location).toBe(`${PUBLIC_URL}/ui/workers`);
    expect((await who(browser.cookie)).body).toMatchObject({
      tenant: 'acme',
      scopes: ['jobs:read'],
    });
    const refused = await visitor().signIn('dev', '?tenant=acme');
    expect([refused.status, refused.text]).toEqual([
      403,
      expect.stringContaining('no access to the tenant &quot;acme&quot;'),
    ]);
  });

  it.each([
    [
      'in no known group',
      'stranger',
      'Your groups are staff, a&lt;b&gt;. Access needs one of: ops',
    ],
    ['without groups', 'loner', 'sent no claim &quot;groups&quot;'],
    ['of a tenant that does not exist', 'lost', '&quot;no-such-tenant&quot;, which does not exist'],
  ])('refuses a user %s, and says why', async (_, login, words) => {
    const browser = visitor();
    const { status, text, location } = await browser.signIn(login);
    expect([status, location, browser.cookie]).toEqual([403, null, '']);
    expect(text).toContain(words);
    expect(text).not.toContain('<b>');
    expect(lines.join()).toContain('"reason":"no-access"');
    const again = /href="([^"]*prompt=login)"/.exec(text)?.[1] ?? '';
    const { location: page } = await browser.visit(again);
    expect(page).toContain('prompt=login');
  });

  it('reads groups from the ID token, and says when the provider is gone', async () => {
    const other = await IdentityProvider.start(PUBLIC_URL, USERS, { claimsInToken: true });
    const app = server({ signIn: signInWith({ issuer: other.issuer }) });
    const browser = visitor(app);
    await browser.signIn('dev');
    expect((await who(browser.cookie, app)).status).toBe(200);
    // A session of a provider that is not configured does not count.
    expect((await who(browser.cookie, elsewhere)).status).toBe(401);
    const late = visitor(app);
    const back = await late.authorize('dev');
    await other.stop();
    const refused = await late.visit(back);
    expect([refused.status, refused.text]).toEqual([
      503,
      expect.stringContaining('cannot be reached'),
    ]);
    await app.close();
  });

  it.each([
    '//evil.example',
    'https://evil.example/',
    '/ui',
    '/v1/jobs',
    '/ui/\\evil',
    '/ui/%0d%0aset-cookie:a',
  ])('does not lead to %s', async (path) => {
    const to = decodeURIComponent(path);
    const query = new URLSearchParams({ to }).toString();
    const { status, location } = await visitor().visit(`${PUBLIC_URL}/v1/sign-in/sso?${query}`);
    expect([status, location]).toEqual([400, null]);
  });

  it('has cookies for one https host only where the public address is https', async () => {
    const app = server({ signIn: signInWith({ publicUrl: 'https://jobs.example.com' }) });
    const answer = await callAs(app, null, 'GET', '/v1/sign-in/sso');
    expect(answer.headers['set-cookie']).toMatch(
      /^__Host-longshore_sign_in=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=600$/,
    );
    const { searchParams } = new URL(String(answer.headers['location']));
    expect(Object.fromEntries(searchParams)).toMatchObject({
      redirect_uri: 'https://jobs.example.com/v1/sign-in/sso/callback',
      response_type: 'code',
      scope: 'openid profile email groups',
      code_challenge_method: 'S256',
      nonce: expect.any(String),
      state: expect.any(String),
    });
    await app.close();
  });
});

describe('the way back is refused', () => {
  const refused = async (browser: Visitor, url: string) => {
    const { status, location, text, cookies } = await browser.visit(url);
    expect(location).toBeNull();
    expect(cookies.join()).not.toContain('longshore_session');
    expect(text).toContain('You are not signed in');
    return { status, text };
  };

  it('with another state, without the cookie, and from another browser', async () => {
    const browser = visitor();
    const back = await browser.authorize('ada');
    const wrong = back.replace(/state=[^&]+/, 'state=wrong');
    expect((await refused(browser, wrong)).status).toBe(400);
    expect((await refused(visitor(), back)).status).toBe(400);
    const other = visitor();
    await other.authorize('dev');
    expect((await refused(other, back)).status).toBe(400);
    expect((await refused(visitor(), `${PUBLIC_URL}/v1/sign-in/sso/callback`)).status).toBe(400);
  });

  it('after ten minutes', async () => {
    const browser = visitor();
    const back = await browser.authorize('ada');
    nowMs = Date.now() + 601_000;
    expect((await refused(browser, back)).text).toContain('took longer than ten minutes');
  });

  it('with a code that was used before', async () => {
    const [browser, thief] = [visitor(), visitor(elsewhere)];
    const back = await browser.authorize('dev');
    // A copy of everything that the browser had.
    const copy = browser.cookie;
    expect((await browser.visit(back)).status).toBe(302);
    const { pathname, search } = new URL(back);
    const answer = await callAs(elsewhere, null, 'GET', `${pathname.slice(5)}${search}`, {
      headers: { cookie: copy },
    });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('invalid_grant')]);
    expect(thief.cookie).toBe('');
  });

  it.each([
    ['nonce', 'another nonce', () => ({ nonce: 'other' })],
    ['iss', 'another issuer', () => ({ iss: 'https://evil.example' })],
    ['aud', 'another audience', () => ({ aud: 'another-client' })],
    ['exp', 'an end that is over', () => ({ exp: Math.floor(Date.now() / 1_000) - 60 })],
    ['iat', 'no time', () => ({ iat: undefined })],
    ['sub', 'no subject', () => ({ sub: undefined })],
  ])('with an ID token whose %s is %s', async (_claim, _what, change) => {
    idp.changeClaims = (claims) => ({ ...claims, ...change() });
    const browser = visitor();
    const { status } = await refused(browser, await browser.authorize('ada'));
    expect(status).toBe(400);
    expect(lines.join()).toContain('"reason":"invalid"');
  });

  it('with an ID token that another key signed', async () => {
    idp.signsWrongly = true;
    const browser = visitor();
    expect((await refused(browser, await browser.authorize('ada'))).status).toBe(400);
  });

  it('but clocks may differ by some seconds', async () => {
    idp.changeClaims = (claims) => ({ ...claims, exp: Math.floor(Date.now() / 1_000) - 20 });
    expect((await visitor().signIn('ada')).status).toBe(302);
  });

  it('when the user or the provider declines', async () => {
    const browser = visitor();
    const back = new URL(await browser.authorize('ada'));
    back.searchParams.delete('code');
    back.searchParams.set('error', 'access_denied');
    back.searchParams.set('error_description', 'no <i>way</i>');
    const { status, text } = await refused(browser, back.href);
    expect([status, text]).toEqual([403, expect.stringContaining('no &lt;i&gt;way&lt;/i&gt;')]);
  });

  it('and nothing of it is in the log', async () => {
    idp.changeClaims = (claims) => ({ ...claims, nonce: 'other' });
    const browser = visitor();
    const back = await browser.authorize('ada');
    const secrets = [
      new URL(back).searchParams.get('code') ?? '',
      browser.cookie.split('=')[1] ?? '',
    ];
    await refused(browser, back);
    const text = lines.join('\n');
    expect(text).toContain('sign-in refused');
    for (const secret of [...secrets, CLIENT.clientSecret, 'eyJ']) {
      expect(secret).not.toBe('');
      expect(text).not.toContain(secret);
    }
  });
});

describe('an identity provider', () => {
  it('that is down, or refuses us, gets a clear page, and keys still work', async () => {
    const down = server({ signIn: signInWith({ issuer: NO_SERVER }) });
    const answer = await callAs(down, null, 'GET', '/v1/sign-in/sso');
    expect([answer.status, answer.headers['content-type']]).toEqual([
      503,
      'text/html; charset=utf-8',
    ]);
    expect(answer.text).toContain('The identity provider cannot be reached');
    const { key } = await newKey(database, 'default', 'admin');
    const login = { payload: { key }, headers: OWN };
    expect((await callAs(down, null, 'POST', '/v1/session', login)).status).toBe(201);

    const unknown = server({ signIn: signInWith({ clientSecret: 'wrong' }) });
    const refused = await visitor(unknown).signIn('ada');
    expect([refused.status, refused.text]).toEqual([
      503,
      expect.stringContaining('check LONGSHORE_OIDC_CLIENT_ID'),
    ]);
    const metrics = (await callAs(unknown, key, 'GET', '/metrics')).text;
    expect(metrics).toContain('longshore_sign_ins_total{method="sso",outcome="unavailable"} 1');
    await Promise.all([down.close(), unknown.close()]);
  });

  it('that names another issuer is not used', async () => {
    const issuer = idp.issuer.replace('localhost', '127.0.0.1');
    const app = server({ signIn: signInWith({ issuer }) });
    const answer = await callAs(app, null, 'GET', '/v1/sign-in/sso');
    expect([answer.status, answer.text]).toEqual([503, expect.stringContaining('issuer')]);
    await app.close();
  });

  it('ends anonymous access, and is offered to browsers', async () => {
    const fresh = serverOn(database);
    expect((await callAs(here, null, 'GET', '/v1/sign-in')).body).toEqual({
      sso: { url: `${PUBLIC_URL}/v1/sign-in/sso`, hasTenants: true },
    });
    expect((await callAs(fresh, null, 'GET', '/v1/sign-in')).body).toEqual({ sso: null });
    expect((await callAs(fresh, null, 'GET', '/v1/sign-in/sso')).code).toBe('NOT_FOUND');
    await fresh.close();
    await database.sql('delete from longshore.api_key');
    expect((await who('')).status).toBe(401);
  });
});

it('the settings of docs/operate/sign-in.md are complete, and doctor checks them', async () => {
  const [block] = blocksOf('docs/operate/sign-in.md', 'sh');
  const pairs = [...(block?.text ?? '').matchAll(/export (\w+)=(\S+)/g)];
  const env = Object.fromEntries(pairs.map(([, name, value]) => [name, value]));
  const { LONGSHORE_OIDC_CLIENT_SECRET_FILE: file, ...shown } = env;
  expect(file).toBeDefined();
  const factsWith = async (changes: Record<string, string>) => {
    const secret = { LONGSHORE_OIDC_CLIENT_SECRET: 'any' };
    const { config } = loadConfig({ env: { ...shown, ...secret, ...changes }, directory: '/none' });
    const signIn = localSignIn(config);
    if (!signIn) throw new Error('sign-in is not configured');
    return await inspectSignIn(signIn, config);
  };
  const facts = await factsWith({ LONGSHORE_OIDC_ISSUER: idp.issuer });
  expect(facts).toEqual({
    // The provider of this test knows another redirect URI.
    knowsClient: false,
    issuer: idp.issuer,
    redirectUri: 'https://jobs.example.com/v1/sign-in/sso/callback',
    trouble: null,
    servesPublicHost: true,
    isEncrypted: true,
  });
  const known = { LONGSHORE_OIDC_ISSUER: idp.issuer, LONGSHORE_PUBLIC_URL: PUBLIC_URL };
  expect(await factsWith(known)).toMatchObject({ knowsClient: true, trouble: null });
  const down = { LONGSHORE_OIDC_ISSUER: NO_SERVER, LONGSHORE_ALLOWED_HOSTS: 'other' };
  expect(await factsWith(down)).toMatchObject({
    trouble: expect.stringContaining('cannot be reached'),
    servesPublicHost: false,
  });
});

describe('sessions', () => {
  const sessionsOf = async (cookie: string, query = '') => {
    const { body } = await callAs(here, null, 'GET', `/v1/sessions${query}`, {
      headers: { cookie },
    });
    return body['sessions'] as Record<string, unknown>[];
  };
  const revoke = async (cookie: string, sessionId: string, query = '') =>
    (
      await callAs(here, null, 'DELETE', `/v1/sessions/${sessionId}${query}`, {
        headers: { cookie, ...OWN },
      })
    ).status;

  it('are listed and revoked by their user, and by admins', async () => {
    await database.sql('delete from longshore.session');
    const [admin, one, two, foreign] = [visitor(), visitor(), visitor(), visitor()];
    await admin.signIn('ada');
    await one.signIn('dev');
    await two.signIn('dev');
    await foreign.signIn('both', '?tenant=acme');
    const own = await sessionsOf(one.cookie);
    expect(own).toHaveLength(2);
    expect(own[0]).toEqual({
      sessionId: expect.any(String),
      tenant: 'default',
      keyId: null,
      keyName: null,
      user: { issuer: idp.issuer, subject: 'dev', name: 'Dev <b>', email: null },
      scopes: ['jobs:read', 'jobs:write'],
      createdAt: expect.any(String),
      seenAt: expect.any(String),
      expiresAt: expect.any(String),
      address: '127.0.0.1',
      userAgent: 'A browser',
    });
    const { key, keyId } = await newKey(database, 'default', 'jobs:read');
    await callAs(here, null, 'POST', '/v1/session', { payload: { key }, headers: OWN });
    const ofKey = await callAs(here, key, 'GET', '/v1/sessions');
    expect(ofKey.body['sessions']).toMatchObject([{ keyId, keyName: 'jobs:read', user: null }]);
    expect(await sessionsOf(admin.cookie)).toHaveLength(4);
    const [theirs] = await sessionsOf(admin.cookie, '?tenant=acme');
    expect(theirs).toMatchObject({ tenant: 'acme', user: { subject: 'both' } });

    const id = async (browser: Visitor) => String((await who(browser.cookie)).body['sessionId']);
    expect(await revoke(one.cookie, await id(admin))).toBe(404);
    expect(await revoke(one.cookie, await id(foreign))).toBe(404);
    expect(await revoke(admin.cookie, await id(foreign))).toBe(404);
    expect(await revoke(one.cookie, 'no-id')).toBe(404);
    expect(await revoke(one.cookie, await id(two))).toBe(204);
    expect((await who(two.cookie)).status).toBe(401);
    await until('it has ended everywhere', async () => {
      return (await who(two.cookie, elsewhere)).status === 401;
    });
    expect(await revoke(admin.cookie, String(theirs?.['sessionId']), '?tenant=acme')).toBe(204);
    expect((await who(foreign.cookie)).status).toBe(401);
    const audit = await database.sql(
      `select tenant, actor, before ->> 'subject' as whose from longshore.audit
       where action = 'session.revoke' order by id`,
    );
    expect(audit).toEqual([
      { tenant: 'default', actor: 'user:Dev <b> (dev)', whose: 'dev' },
      { tenant: 'acme', actor: 'user:ada@example.com (ada)', whose: 'both' },
    ]);
  });

  it.each([
    ['an hour without use', `seen_at = clock_timestamp() - interval '61 minutes'`],
    ['twelve hours', 'expires_at = clock_timestamp()'],
  ])('end after %s', async (_, change) => {
    const browser = visitor();
    await browser.signIn('dev');
    await database.sql(`update longshore.session set ${change} where subject = 'dev'`);
    expect((await who(browser.cookie)).status).toBe(401);
  });

  it('end at sign-out, which the provider can follow', async () => {
    const browser = visitor();
    await browser.signIn('dev');
    const { cookie } = browser;
    const answer = await callAs(here, null, 'DELETE', '/v1/session', {
      headers: { cookie, ...OWN },
    });
    const url = new URL(String(answer.body['signOutUrl']));
    expect(url.href.startsWith(idp.issuer)).toBe(true);
    expect(url.searchParams.get('post_logout_redirect_uri')).toBe(`${PUBLIC_URL}/ui/`);
    expect((await who(cookie)).status).toBe(401);
    const page = await browser.visit(url.href);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('sign-out')]);
  });
});
