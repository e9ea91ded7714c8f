import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { axeFindings, dashboardPages } from '../support/dashboard-page.ts';
import { endAll, FIXTURES, launch } from '../support/processes.ts';

const { open } = dashboardPages();
const folder = await mkdtemp(join(tmpdir(), 'longshore-first-run-'));

afterAll(async () => {
  await endAll();
  await rm(folder, { recursive: true, force: true });
});

it('takes a newcomer from an empty server to the first finished job', async () => {
  const LONGSHORE_JOBS = join(FIXTURES, 'dashboard/shop.ts');
  const env = { LONGSHORE_DATA: join(folder, 'data'), LONGSHORE_JOBS, LONGSHORE_CONCURRENCY: '1' };
  const { address } = (await launch('start', { env })).summary;
  const page = await open('/');
  await page.goto(`${address}/`);
  await page.getByText('All quiet').waitFor();
  await page.getByText('A job is started (to do)').waitFor();
  await page
    .getByText(`npx longshore enqueue billing.send-invoice --wait --url ${address}`)
    .waitFor();
  expect(await page.locator('.step.done').count()).toBe(3);
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole('link', { name: 'Run billing.send-invoice…' }).click();
  await page.getByLabel('invoiceId').fill('INV-1');
  await page.getByLabel('email').fill('amy@up.example');
  await page.getByRole('button', { name: 'Start the job' }).click();
  await page.getByText(/^Succeeded on attempt 1/).waitFor();
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByText('All quiet').waitFor();
  await page.getByText('Your first job').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Jobs', exact: true }).click();
  await page.getByText('1 job', { exact: true }).waitFor();
});
