import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { Longshore } from '../../src/client/index.ts';
import { FIXTURES, endAll, launch } from '../support/processes.ts';
import { quickFolder } from '../support/quick-folder.ts';
import { axeFindings, dashboardPages } from '../support/servers/dashboard-page.ts';

const { open, forgiveComplaints } = dashboardPages();
const folder = await quickFolder('longshore-secrets-page-');

afterAll(async () => {
  await endAll();
  await rm(folder, { recursive: true, force: true });
});

it('secrets are set, listed without values and removed in the settings', async () => {
  const env = {
    LONGSHORE_DATA: join(folder, 'data'),
    LONGSHORE_JOBS: join(FIXTURES, 'secrets'),
    LONGSHORE_ENCRYPTION_KEYS: `a:${Buffer.alloc(32, 7).toString('base64')}`,
    LONGSHORE_DRAIN_MS: '1000',
  };
  const { address } = (await launch('start', { env })).summary;
  const client = new Longshore({ url: address });
  const page = await open('/');
  await page.goto(`${address}/ui/settings`);
  await page.getByText('No secrets. Jobs get them as environment variables').waitFor();

  await page.getByRole('button', { name: 'Set secret…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Set a secret' });
  await dialog.getByLabel('Name').fill('NODE_OPTIONS');
  await dialog.getByLabel('Value').fill('value-of-the-page');
  await dialog.getByRole('button', { name: 'Set', exact: true }).click();
  await dialog.getByText('The name must not be NODE_OPTIONS, which is reserved.').waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await dialog.getByLabel('Name').fill('TOKEN');
  await dialog.getByLabel('Definition').selectOption('tell.process');
  await dialog.getByRole('button', { name: 'Set', exact: true }).click();

  const table = page.getByRole('table', { name: 'Secrets of jobs' });
  const row = table.getByRole('row').filter({ hasText: 'TOKEN' });
  await row.getByRole('cell', { name: 'tell.process' }).waitFor();
  expect(await page.content()).not.toContain('value-of-the-page');
  expect(await axeFindings(page)).toEqual([]);
  const job = await client.enqueue('tell.process', {});
  expect(await job.result()).toMatchObject({ plain: '[redacted]', names: ['TOKEN'] });

  await row.getByRole('button', { name: 'Remove…' }).click();
  await page.getByRole('button', { name: 'Remove secret' }).click();
  await page.getByText('No secrets. Jobs get them as environment variables').waitFor();
  expect(await client.secrets.list()).toEqual([]);
});

it('a server without an encryption key says what to set', async () => {
  const page = await open('/settings');
  await page.getByRole('button', { name: 'Set secret…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Set a secret' });
  await dialog.getByLabel('Name').fill('TOKEN');
  await dialog.getByLabel('Value').fill('value-of-the-page');
  await dialog.getByRole('button', { name: 'Set', exact: true }).click();
  await page.getByText(/it has no encryption key: set LONGSHORE_ENCRYPTION_KEYS/).waitFor();
  forgiveComplaints();
});
