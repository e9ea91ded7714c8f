import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { post, startJob } from '../support/api.ts';
import { axeFindings, dashboardPages } from '../support/dashboard-page.ts';
import { endAll, FIXTURES, launch } from '../support/processes.ts';

const { open, forgiveComplaints } = dashboardPages();
const folder = await mkdtemp(join(tmpdir(), 'longshore-sign-in-'));

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
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  forgiveComplaints();
});
