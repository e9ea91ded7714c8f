import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Page } from 'playwright-core';
import { findFreePort, homePort } from '../../src/postgres/free-port.ts';
import { CLIENT, IdentityProvider } from '../support/identity/identity-provider.ts';
import { axeFindings, dashboardPages } from '../support/servers/dashboard-page.ts';
import { HOSTILE } from '../support/servers/dashboard-server.ts';
import { endAll, FIXTURES, launch } from '../support/processes.ts';
import { quickFolder } from '../support/quick-folder.ts';

const { open, forgiveComplaints } = dashboardPages();
const folder = await quickFolder('longshore-sign-in-');

const USERS = {
  ada: { name: 'Ada Lovelace', email: 'ada@example.com', groups: ['ops'] },
  eve: { name: 'Eve', groups: ['visitors'] },
  zoe: { name: 'Zoe', groups: ['dev', 'acme-team'] },
};
let idp: IdentityProvider;
let address: string;
/** Made by the first test. */
let key = '';
let jobId = '';

beforeAll(async () => {
  // The provider warns on the console that it is one for tests.
  for (const method of ['info', 'warn'] as const) vi.spyOn(console, method).mockReturnValue();
  const port = await findFreePort(homePort(folder));
  const publicUrl = `http://127.0.0.1:${port}`;
  idp = await IdentityProvider.start(publicUrl, USERS);
  const env = {
    LONGSHORE_DATA: join(folder, 'data'),
    LONGSHORE_JOBS: join(FIXTURES, 'dashboard/shop.ts'),
    LONGSHORE_DRAIN_MS: '1000',
    LONGSHORE_PORT: String(port),
    LONGSHORE_PUBLIC_URL: publicUrl,
    LONGSHORE_OIDC_ISSUER: idp.issuer,
    LONGSHORE_OIDC_CLIENT_ID: CLIENT.clientId,
    LONGSHORE_OIDC_CLIENT_SECRET: CLIENT.clientSecret,
    LONGSHORE_OIDC_SCOPES: 'openid profile email groups',
    LONGSHORE_OIDC_GROUPS: 'ops=admin,dev=jobs:read,acme-team=jobs:read@acme',
  };
  address = (await launch('start', { env })).summary.address;
});
afterAll(async () => {
  await endAll();
  await idp?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Through the pages of the identity provider, which is another site. */
async function signInAs(page: Page, login: string): Promise<void> {
  await page.getByRole('link', { name: 'Sign in with SSO' }).click();
  await page.waitForURL(`${idp.issuer}/**`);
  await page.getByPlaceholder('Enter any login').fill(login);
  await page.getByPlaceholder('and password').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

it('signs in with SSO, returns to the page, and lists and revokes sessions', async () => {
  const page = await open('/');
  await page.goto(`${address}/ui/settings`);
  await signInAs(page, 'ada');
  await page.getByText('Signed in with SSO').waitFor();
  expect(page.url()).toBe(`${address}/ui/settings`);
  await page.getByText('Programs and the command line need one.').waitFor();

  const send = async (path: string, data: object) => {
    const answer = await page.request.post(`${address}${path}`, {
      data,
      headers: { origin: address },
    });
    return (await answer.json()) as Record<string, string>;
  };
  await send('/v1/tenants', { tenant: 'acme' });
  const params = { month: '2026-10', pages: 3, pageMs: 10 };
  jobId = (await send('/v1/jobs', { definitionKey: 'report.build', params }))['jobId'] ?? '';
  key = (await send('/v1/keys', { name: 'ada', scopes: ['admin'] }))['key'] ?? '';
  const headers = { origin: address, 'content-type': 'application/json', 'user-agent': 'curl/8' };
  const body = JSON.stringify({ key });
  await fetch(`${address}/v1/session`, { method: 'POST', headers, body });
  await page.reload();
  const sessions = page.getByRole('table', { name: 'Sessions' }).getByRole('row');
  const own = sessions.filter({ hasText: 'Ada Lovelace' });
  await own.getByText('Chrome on Linux, 127.0.0.1').waitFor();
  await own.getByText('this browser').waitFor();
  const other = sessions.filter({ hasText: 'Key ada' });
  await other.getByRole('button', { name: 'Revoke…' }).click();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole('button', { name: 'Revoke session' }).click();
  await page.getByText('Session of Key ada revoked.').waitFor();
  await other.waitFor({ state: 'detached' });

  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL(`${idp.issuer}/**`);
  await page.getByRole('button', { name: 'Yes, sign me out' }).click();
  await page.waitForURL(`${address}/ui/`);
  await signInAs(page, 'eve');
  await page
    .getByText('Your groups are visitors. Access needs one of: ops, dev, acme-team.')
    .waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole('link', { name: 'sign in with an API key' }).click();
  await page.getByLabel('API key').waitFor();
  forgiveComplaints();
});

it('shows a reader of two tenants what the groups give, and switches between them', async () => {
  const page = await open('/');
  await page.goto(`${address}/ui/settings`);
  await signInAs(page, 'zoe');
  await page.getByRole('heading', { name: 'Choose a tenant' }).waitFor();
  await page.getByRole('link', { name: 'default' }).click();
  const you = page.getByRole('region', { name: 'You', exact: true });
  await you.getByText('jobs:read', { exact: true }).waitFor();
  await you.getByText(/^default/).waitFor();
  expect(await page.getByRole('heading', { level: 2 }).allInnerTexts()).toEqual([
    'Your sessions',
    'You',
    'Server',
  ]);
  expect(await axeFindings(page)).toEqual([]);
  await page.goto(`${address}/ui/audit`);
  await page.getByText(/your groups do not give you the scope admin/i).waitFor();
  forgiveComplaints();
  await page.goto(`${address}/ui/jobs`);
  await page.getByRole('link', { name: 'Switch tenant' }).click();
  await page.getByRole('link', { name: 'acme' }).click();
  await page.waitForURL(`${address}/ui/jobs`);
  await page.getByRole('link', { name: 'Settings' }).click();
  await you.getByText(/^acme/).waitFor();
  await you.getByRole('link', { name: 'Switch tenant' }).waitFor();
  forgiveComplaints();
});

it('asks for a key where the server does, and follows a log by its session', async () => {
  const page = await open('/');
  await page.goto(`${address}/ui/jobs/${jobId}`);
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByLabel('API key').fill('lsk_wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').getByText('This key is not valid.').waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('log').getByText('page 3 of 3').waitFor();
  await page.reload();
  await page.getByRole('log').getByText('page 3 of 3').waitFor();

  // The session also counts for the requests of the API reference, and their first body is valid.
  await page.goto(`${address}/docs/api#tag/jobs/POST/v1/jobs`);
  await page.getByRole('button', { name: /Test Request.*post \/v1\/jobs\)/ }).click();
  await page.getByRole('button', { name: /^Send post/ }).click();
  await page.getByText('202 Accepted').waitFor();
  await page.goto(`${address}/ui/`);

  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByText('Signed in with a key').waitFor();
  await page.getByRole('button', { name: 'Create API key…' }).click();
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByText('Enter a name').waitFor();
  await page.getByLabel('Name').fill(`ci ${HOSTILE}`);
  await page.getByLabel('Expires').selectOption('30');
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  const shown = page.getByRole('dialog', { name: 'New API key' });
  const secret = await shown.locator('code').innerText();
  expect(secret).toMatch(/^lsk_/);
  const ask = async () =>
    (await fetch(`${address}/v1/jobs`, { headers: { authorization: `Bearer ${secret}` } })).status;
  expect(await ask()).toBe(200);
  await shown.getByRole('button', { name: 'I have stored it' }).click();
  const row = page.getByRole('row').filter({ hasText: HOSTILE });
  await row.getByRole('button', { name: 'Rotate…' }).click();
  await page.getByRole('button', { name: 'Create new key' }).click();
  await shown.getByRole('button', { name: 'I have stored it' }).click();
  await expect.poll(async () => await row.count()).toBe(2);
  await row.filter({ hasNotText: 'never' }).last().waitFor();
  for (const revoked of [1, 2]) {
    await row.getByRole('button', { name: 'Revoke…' }).first().click();
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText('revoked.').last().waitFor();
    await page.getByRole('button', { name: 'Dismiss' }).first().click();
    // Until the table knows, the first button is still that of the key that is gone.
    await expect.poll(async () => await row.getByText('revoked').count()).toBe(revoked);
  }
  expect(await axeFindings(page)).toEqual([]);
  await expect.poll(ask).toBe(401);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  forgiveComplaints();
});
