import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { plantSurprises, setBack } from '../support/checks/surprises.ts';
import { endAll, FIXTURES, launch } from '../support/processes.ts';
import { quickFolder } from '../support/quick-folder.ts';
import { axeFindings, dashboardPages } from '../support/servers/dashboard-page.ts';

/**
 * Three surprises of an operator: each is one row of the overview with impact and cause, and the
 * link of the row leads to a page that says why. Real workers do all of it; only the waiting jobs
 * are set back by ten minutes.
 */
const { open } = dashboardPages();
const folder = await quickFolder('longshore-surprises-');
let address = '';

beforeAll(async () => {
  const dataDir = join(folder, 'data');
  const env = {
    LONGSHORE_DATA: dataDir,
    LONGSHORE_JOBS: join(FIXTURES, 'problems/shop'),
    LONGSHORE_CONCURRENCY: '8',
    LONGSHORE_DRAIN_MS: '500',
    // The receiver of the webhook has a private address.
    LONGSHORE_WEBHOOK_ALLOW: '127.0.0.0/8',
  };
  ({ address } = (await launch('start', { env })).summary);
  await plantSurprises(address, { fast: 60, slow: 60, pages: 40 });
  await setBack(dataDir, 10);
});
afterAll(async () => {
  await endAll();
  await rm(folder, { recursive: true, force: true });
});

/** Opens the page behind the only row with this text. */
async function follow(page: Page, row: RegExp, about: RegExp): Promise<void> {
  await page.goto(`${address}/ui/`);
  const rows = page.locator('.verdict li');
  await rows.filter({ hasText: row }).waitFor();
  expect(await rows.filter({ hasText: about }).count()).toBe(1);
  expect(await axeFindings(page)).toEqual([]);
  await rows.filter({ hasText: row }).getByRole('link').first().click();
}

it('a definition that became slow', async () => {
  const page = await open('/');
  await follow(
    page,
    /^tax.lookup \d+ jobs wait, the oldest for 1\dm.*: runs take ≈ .* now, and took ≈ \d+ ms before.*slots/,
    /tax\.lookup/,
  );
  await page.waitForURL(/\/definitions\/tax\.lookup/);
  await page
    .getByText(/^It became slower: runs take ≈ \d+ s now, and took ≈ \d+ ms before\./)
    .waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole('link', { name: 'Its running jobs' }).click();
  await page.getByRole('table', { name: 'Jobs' }).getByRole('link').first().click();
  await page.getByText('asking the tax office').waitFor();
});

it('a webhook whose receiver is down', async () => {
  const page = await open('/');
  await follow(
    page,
    /^Webhook http:\/\/127.0.0.1:4999\/hooks\/orders has failed for .*ECONNREFUSED.*, 20 events wait/,
    /Webhook/,
  );
  await page.getByRole('heading', { level: 1, name: /127.0.0.1:4999/ }).waitFor();
  await page
    .getByText(/ECONNREFUSED/)
    .first()
    .waitFor();
});

it('a tenant at its limit', async () => {
  const page = await open('/');
  await follow(page, /^Tenant acme: 39 jobs wait.* 1\dm.*: it may run 1 job at a time/, /acme/);
  await page.waitForURL(/\/settings#tenants/);
  await page.getByRole('table', { name: 'Tenants' }).getByRole('row', { name: /acme/ }).waitFor();
  await page.goto(`${address}/ui/?tenant=acme`);
  const row = page.locator('.verdict li').filter({ hasText: /site\.crawl/ });
  await row.getByText(/39 jobs wait.*: tenant acme may run 1 job at a time/).waitFor();
  await row.getByRole('link').first().click();
  await page.getByText('Why isn’t it running?').waitFor();
  await page.getByText('Tenant acme runs 1 of at most 1 job at a time.').waitFor();
});
