import { openAsBlob } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packFolder } from '../../src/artifacts/pack.ts';
import { Longshore } from '../../src/client/index.ts';
import { axeFindings, dashboardPages } from '../support/servers/dashboard-page.ts';
import { endAll, FIXTURES, launch, type Running } from '../support/processes.ts';
import { quickFolder } from '../support/quick-folder.ts';

/** A server of its own: it is open at first, then locked by its first key, and goes down at the end. */
const { open, forgiveComplaints } = dashboardPages();
const folder = await quickFolder('longshore-first-key-');
let server: Running;

beforeAll(async () => {
  const LONGSHORE_JOBS = join(FIXTURES, 'dashboard/shop.ts');
  const env = {
    LONGSHORE_DATA: join(folder, 'data'),
    LONGSHORE_JOBS,
    LONGSHORE_DRAIN_MS: '1000',
    LONGSHORE_ENVIRONMENT: 'Production <b>',
  };
  server = await launch('start', { env });
});
afterAll(async () => {
  await endAll();
  await rm(folder, { recursive: true, force: true });
});

let key = '';

/** Code of a definition of its own. */
async function deploy(client: Longshore, words: string): Promise<void> {
  const source = join(folder, words);
  await mkdir(source);
  await writeFile(join(source, 'main.js'), `export const run = () => '${words}';`);
  await packFolder(source, `${source}.tar.gz`);
  const { artifactId } = await client.deployments.upload(await openAsBlob(`${source}.tar.gz`));
  await client.deployments.define({ key: 'talk', artifactId, entrypoint: 'main:run' });
}

it('the first key stays on screen until it is stored, and its browser stays signed in', async () => {
  const { address } = server.summary;
  const page = await open('/');
  await page.goto(`${address}/ui/settings`);
  await page.getByText('Anyone on this machine has full access until you create one.').waitFor();
  await page.getByRole('button', { name: 'Create API key…' }).click();
  await page.getByText('This is the first key.').waitFor();
  await page.getByLabel('Name').fill('ada');
  const isAdmin = page.getByRole('checkbox', { name: /^admin/ });
  await isAdmin.uncheck();
  await page.getByRole('checkbox', { name: /^jobs:read/ }).check();
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByText('The first key must have the scope admin').waitFor();
  await isAdmin.check();
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  const shown = page.getByRole('dialog', { name: 'New API key' });
  key = await shown.locator('code').innerText();
  const asked = async (headers: Record<string, string>) =>
    (await fetch(`${address}/v1/jobs`, { headers })).status;
  await expect.poll(async () => await asked({})).toBe(401);
  // Everything that this page shows has been asked for again by now, from the locked server.
  const who = page.getByText('Signed in with a key');
  await who.waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  expect(await shown.locator('code').innerText()).toBe(key);
  expect(await asked({ authorization: `Bearer ${key}` })).toBe(200);
  expect(await axeFindings(page)).toEqual([]);
  await shown.getByRole('button', { name: 'I have stored it' }).click();
  await shown.waitFor({ state: 'detached' });
  await page.getByRole('row').filter({ hasText: 'ada' }).getByText('active').waitFor();
  await page.reload();
  await who.waitFor();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  expect(await page.getByRole('heading', { level: 1, name: 'Sign in' }).count()).toBe(0);
});

it('a key that may only read sees no button that changes something', async () => {
  const { address } = server.summary;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const send = async (path: string, body: object) =>
    (await (
      await fetch(`${address}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    ).json()) as Record<string, string>;
  const read = await send('/v1/keys', { name: 'reader', scopes: ['jobs:read'] });
  const held = await send('/v1/jobs', { definitionKey: 'image.resize', params: {}, hold: true });
  const schedule = await send('/v1/schedules', {
    definitionKey: 'image.resize',
    name: 'hourly',
    cron: '@hourly',
  });
  const failing = { invoiceId: 'INV-1', email: 'a@down.example' };
  const failed = await send('/v1/jobs', {
    definitionKey: 'billing.send-invoice',
    params: failing,
    maxAttempts: 1,
  });
  const job = { definitionKey: 'image.resize', delayMs: 3_600_000 };
  const batch = await send('/v1/batches', { name: 'kept', jobs: [job], open: true });
  const webhook = await send('/v1/webhooks', {
    url: 'https://hook.example/in',
    events: ['job.failed'],
  });
  const bulk = { action: 'cancel', filter: { definitionKey: 'image.resize', tag: 'absent' } };
  await send('/v1/bulk', bulk);
  const client = new Longshore({ url: address, apiKey: key });
  // The second one can be rolled back.
  await deploy(client, 'one');
  await deploy(client, 'two');
  const page = await open('/');
  const changing =
    /^(Cancel|Close|Release|Retry|Delete|Run(?! time)|Start|Pause|Resume|Drain|Change|Create|Add|New|Edit|Send|Rotate|Revoke|Set|Stop|Save|Enqueue|Abort|Roll|Give)/;
  const buttons = page
    .locator('main')
    .getByRole('button', { name: changing })
    .or(page.locator('main').getByRole('link', { name: /^(New schedule|Edit|Create)$/ }));
  /** Screens without a button that changes something now. */
  const onlyRead = ['/errors', '/bulk', '/audit', '/compare', '/deployments'];
  const paths = [
    [`/jobs/${held['jobId']}`, 'Held until it is released'],
    [`/jobs/${failed['jobId']}`, 'ECONNREFUSED'],
    [`/batches/${batch['id']}`, 'Open: it accepts jobs'],
    ['/jobs?status=created', '1 job'],
    ['/dead-letters', 'could not be sent'],
    ['/definitions/image.resize', 'Latest jobs'],
    ['/schedules', 'nightly'],
    [`/schedules/${schedule['id']}`, 'Next runs'],
    [`/schedules/${schedule['id']}/edit`, 'Time zone|lacks the scope'],
    ['/schedules/new?definition=image.resize', 'Time zone|lacks the scope'],
    ['/jobs/new?definition=image.resize', 'About image.resize|lacks the scope'],
    [`/compare?a=${held['jobId']}&b=${failed['jobId']}`, 'Outcome|Status'],
    ['/errors', 'could not be sent'],
    ['/bulk', 'Who and when'],
    ['/audit', 'key.create|lacks the scope'],
    ['/deployments', 'current'],
    ['/deployments/2', 'Artifact'],
    ['/webhooks', 'hook.example|lacks the scope'],
    [`/webhooks/${webhook['id']}`, 'hook.example|lacks the scope'],
    ['/workers', 'Draining|active'],
    ['/alerts', 'dead-letters'],
    ['/usage', 'Budgets'],
    ['/settings', 'Permissions'],
  ] as const;
  for (const [as, isShown] of [
    [read['key'] ?? '', false],
    [key, true],
  ] as const) {
    await page.goto(`${address}/ui/`);
    await page.getByLabel('API key').fill(as);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    const menu = page.getByRole('navigation', { name: 'Screens' });
    await menu.getByRole('link', { name: 'Settings' }).waitFor();
    const guarded = menu.getByRole('link', { name: /^(Webhooks|Audit)/ });
    if (isShown) await guarded.last().waitFor();
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog', { name: 'Command palette' });
    await palette.getByRole('option', { name: /^Settings/ }).waitFor();
    const listed = await palette.getByRole('option', { name: /^(Webhooks|Audit)/ }).count();
    await page.keyboard.press('Escape');
    expect([await guarded.count(), listed]).toEqual(isShown ? [2, 2] : [0, 0]);
    for (const [path, text] of paths) {
      await page.goto(`${address}/ui${path}`);
      await page.locator('main').getByText(new RegExp(text)).first().waitFor();
      const isChanged = !onlyRead.includes(path.replace(/\?.*/, ''));
      if (isShown && isChanged) await buttons.first().waitFor();
      if (isShown) continue;
      if (path === '/settings') {
        const main = page.locator('main');
        const panels = main.getByRole('heading', { name: /API keys|Secrets|Configuration/ });
        expect([await panels.count(), await main.getByRole('alert').count()]).toEqual([0, 0]);
      }
      expect([path, await buttons.count()]).toEqual([path, 0]);
    }
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  }
  forgiveComplaints();
});

it('an admin acts for another tenant on every screen, in a named environment', async () => {
  const { address } = server.summary;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const send = async (path: string, body: object) =>
    await fetch(`${address}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  await send('/v1/tenants', { tenant: 'acme' });
  const held = { definitionKey: 'image.resize', params: { url: 'of-acme' }, hold: true };
  expect((await send('/v1/jobs?tenant=acme', held)).status).toBe(202);
  const page = await open('/');
  await page.goto(`${address}/ui/jobs`);
  await page.getByText('Production <b>', { exact: true }).waitFor();
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
  expect(await page.title()).toBe('Production <b> · Jobs · Longshore');
  expect(await page.getByText('of-acme').count()).toBe(0);
  await page.getByLabel('Tenant').selectOption('acme');
  await page.waitForURL(/tenant=acme/);
  await page.getByText('of-acme').first().waitFor();
  expect(await axeFindings(page)).toEqual([]);
  for (const name of ['Overview', 'Schedules', 'Definitions', 'Workers', 'Settings', 'Jobs']) {
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    expect(new URL(page.url()).searchParams.get('tenant')).toBe('acme');
  }
  await page.getByRole('row').filter({ hasText: 'of-acme' }).getByRole('link').first().click();
  await page.getByText('Held until it is released.').waitFor();
  // A typo in the address leads back, and to the tenant that was meant.
  await page.goto(`${address}/ui/jobs?tenant=amce`);
  await page.getByText('There is no tenant “amce”.').waitFor();
  expect(await page.getByLabel('Tenant').getByRole('option').allTextContents()).toEqual([
    'Choose…',
    'default',
    'acme',
  ]);
  const home = page.getByRole('link', { name: 'Go to the default tenant' });
  expect(await home.getAttribute('href')).toBe(`${address}/ui/`);
  await page.getByRole('main').getByRole('link', { name: 'acme', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  expect(new URL(page.url()).searchParams.get('tenant')).toBe('acme');
  // A pause of it leads from the default tenant to its jobs, with the number of them.
  const queued = { definitionKey: 'image.resize', params: { url: 'queued-in-acme' } };
  await send('/v1/tenants/acme/pause', { reason: 'unpaid' });
  expect((await send('/v1/jobs?tenant=acme', queued)).status).toBe(202);
  await page.goto(`${address}/ui/`);
  await page.getByRole('link', { name: /^1 job waits: Tenant acme was paused/ }).click();
  await page.waitForURL(/\/jobs\?(?=.*status=queued)(?=.*tenant=acme)/);
  await page.getByText('queued-in-acme').first().waitFor();
  await send('/v1/tenants/acme/resume', {});
  forgiveComplaints();
});

it('a change that does not reach the server is shown as not made', async () => {
  const { address } = server.summary;
  const authorization = `Bearer ${key}`;
  const { jobId } = (await (
    await fetch(`${address}/v1/jobs`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ definitionKey: 'image.resize', params: {}, hold: true }),
    })
  ).json()) as { jobId: string };
  const page = await open('/');
  await page.goto(`${address}/ui/jobs/${jobId}`);
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  server.signal('SIGTERM');
  await server.exited;
  await page.getByRole('button', { name: 'Cancel job' }).click();
  await page.getByText("Can't reach the server. Your change was NOT applied.").waitFor();
  forgiveComplaints();
});
