import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { post, startJob } from '../support/api.ts';
import { axeFindings, dashboardPages } from '../support/servers/dashboard-page.ts';
import { HOSTILE } from '../support/servers/dashboard-server.ts';
import { endAll, FIXTURES, launch } from '../support/processes.ts';
import { quickFolder } from '../support/quick-folder.ts';

const { open, forgiveComplaints } = dashboardPages();
const folder = await quickFolder('longshore-sign-in-');

afterAll(async () => {
  await endAll();
  await rm(folder, { recursive: true, force: true });
});

it('asks for a key where the server does, and follows a log by its session', async () => {
  const LONGSHORE_JOBS = join(FIXTURES, 'dashboard/shop.ts');
  const env = { LONGSHORE_DATA: join(folder, 'data'), LONGSHORE_JOBS, LONGSHORE_DRAIN_MS: '1000' };
  const { address } = (await launch('start', { env })).summary;
  const pages = { month: '2026-10', pages: 3, pageMs: 10 };
  const jobId = await startJob(address, 'report.build', pages);
  const { body } = await post(`${address}/v1/keys`, { name: 'ada', scopes: ['admin'] });
  const { key } = body as { key: string };

  const page = await open('/');
  await page.goto(`${address}/ui/jobs/${jobId}`);
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByLabel('API key').fill('lsk_wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.toast-bad').waitFor();
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('log').getByText('page 3 of 3').waitFor();
  await page.reload();
  await page.getByRole('log').getByText('page 3 of 3').waitFor();

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
