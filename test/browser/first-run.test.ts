import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { jobInState, post, startJob } from '../support/api.ts';
import { axeFindings, dashboardPages } from '../support/servers/dashboard-page.ts';
import { endAll, FIXTURES, launch, type Running } from '../support/processes.ts';

const { open, forgiveComplaints } = dashboardPages();
const folder = await mkdtemp(join(tmpdir(), 'longshore-first-run-'));

const env = {
  LONGSHORE_DATA: join(folder, 'data'),
  LONGSHORE_JOBS: join(FIXTURES, 'dashboard/shop.ts'),
  LONGSHORE_CONCURRENCY: '1',
};
let server: Running;

beforeAll(async () => {
  server = await launch('start', { env });
});
afterAll(async () => {
  await endAll();
  await rm(folder, { recursive: true, force: true });
});

it('takes a newcomer from an empty server to the first finished job', async () => {
  const { address } = server.summary;
  const page = await open('/');
  await page.goto(`${address}/`);
  await page.getByText('All quiet').waitFor();
  await page.getByText('A job is enqueued (to do)').waitFor();
  await page
    .getByText(
      /^npx longshore enqueue billing.send-invoice '\{"invoiceId":"…","email":"…"\}' --wait/,
    )
    .waitFor();
  expect(await page.locator('.step.done').count()).toBe(3);
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole('link', { name: 'Run billing.send-invoice…' }).click();
  await page.getByLabel('invoiceId').fill('INV-1');
  await page.getByLabel('email').fill('amy@up.example');
  await page.getByRole('button', { name: 'Run job' }).click();
  await page.getByText(/^Succeeded on attempt 1/).waitFor();
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByText('All quiet').waitFor();
  await page.getByText('The job has succeeded (done)').waitFor();
  const next = page.getByRole('link', { name: 'write your own job' });
  expect((await page.request.get((await next.getAttribute('href')) ?? '')).status()).toBe(200);
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByText('Your first job').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Jobs', exact: true }).click();
  await page.getByText('1 job', { exact: true }).waitFor();
});

it('does not say that nothing failed, when what failed was retried', async () => {
  const { address } = server.summary;
  const params = { invoiceId: 'INV-2', email: 'amy@down.example' };
  const id = await startJob(address, 'billing.send-invoice', params);
  await jobInState(address, id, 'failed');
  const page = await open('/');
  await page.goto(`${address}/`);
  await page.getByText('1 issue needs attention').waitFor();
  const other = { ...params, email: 'amy@up.example' };
  await post(`${address}/v1/jobs/${id}/retry`, { mode: 'now', params: other });
  await jobInState(address, id, 'succeeded');
  await page.getByText('All quiet').waitFor();
  await page.getByText(/1 job failed in the last hour and was retried or deleted\.$/).waitFor();
  await page.getByRole('img', { name: / 1 failed,/ }).waitFor();
});

it('says when the server is gone and when it is back, and misses nothing of what happened then', async () => {
  const { address } = server.summary;
  const page = await open('/');
  await page.goto(`${address}/ui/jobs?definitionKey=storage.tidy`);
  await page.getByText('No matching jobs.').waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  const states = await connectionStates(page);
  server.signal('SIGTERM');
  await page.getByText('Server unreachable, retrying').waitFor();
  await server.exited;
  await launch('start', { env: { ...env, LONGSHORE_PORT: new URL(address).port } });
  await startJob(address, 'storage.tidy');
  await page.getByText('1 job', { exact: true }).waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  expect(await states()).toContain('Reconnecting');
  forgiveComplaints();
});

/** The part of a browser that is needed here: this file is compiled for Node. */
interface BrowserWindow {
  document: { querySelector(name: string): { textContent: string } };
  MutationObserver: new (changed: () => void) => { observe(of: object, how: object): void };
  connectionStates: string[];
}

/** All that the dot says from now on: some of it is over within a moment. */
async function connectionStates(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const browser = globalThis as unknown as BrowserWindow;
    const dot = browser.document.querySelector('.live');
    browser.connectionStates = [];
    const note = () => browser.connectionStates.push(dot.textContent);
    const how = { characterData: true, childList: true, subtree: true };
    new browser.MutationObserver(note).observe(dot, how);
  });
  return async () =>
    await page.evaluate(() => (globalThis as unknown as BrowserWindow).connectionStates);
}
