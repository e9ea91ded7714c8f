import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { post, readJob, startJob } from '../support/api.ts';
import { axeFindings, dashboardPages } from '../support/servers/dashboard-page.ts';
import { type Problems, plantProblems } from '../support/checks/problems.ts';
import { endAll } from '../support/processes.ts';
import { quickFolder } from '../support/quick-folder.ts';
import { until } from '../support/until.ts';

/**
 * Six problems, and an operator who was woken at night finds out about each: what failed, why, how
 * often, is it stuck, who owns it. Everybody begins at the overview and has four clicks.
 * `npm run demo:problems` is the same with 200,000 jobs.
 */
const { open } = dashboardPages();
const folder = await quickFolder('longshore-problems-');
const COUNT = 400;
const CLICKS_MAX = 4;
let problems: Problems;

beforeAll(async () => {
  problems = await plantProblems(join(folder, 'data'), COUNT);
});
afterAll(async () => {
  await endAll();
  await rm(folder, { recursive: true, force: true });
});

/** Begins at the overview, and counts the clicks. */
async function walk() {
  const page = await open('/');
  await page.goto(`${problems.address}/ui/`);
  let clicks = 0;
  return {
    page,
    click: async (target: Locator) => {
      clicks += 1;
      expect(clicks).toBeLessThanOrEqual(CLICKS_MAX);
      await target.click();
    },
  };
}

const reads = async (page: Page, ...texts: (string | RegExp)[]) => {
  for (const text of texts) await page.getByText(text).first().waitFor();
};
const HIDDEN_BEHIND = 2_500;

const trouble = (page: Page, text: RegExp) => page.locator('.verdict li').filter({ hasText: text });

it('a definition whose jobs all fail', async () => {
  const { page, click } = await walk();
  const line = trouble(
    page,
    new RegExp(
      `^orders.import ${problems.failed} failed, the first [^:]* ago: column "vat_id" of relation "orders" does not exist`,
    ),
  );
  await line.getByText('team-orders').waitFor();
  await click(line.getByRole('link'));
  const row = page
    .getByRole('table', { name: /Failures by definition/ })
    .getByRole('row')
    .nth(1);
  expect(await row.innerText()).toMatch(/orders.import.*team-orders.*could not be imported.*20/s);
  await click(page.getByRole('table', { name: 'Dead letters' }).getByRole('link').first());
  await reads(page, 'column "vat_id" of relation "orders" does not exist', 'team-orders');
  await reads(page, /^Failed on attempt 1 of 1/);
});

it('a job that is stuck', async () => {
  const { page, click } = await walk();
  const line = trouble(page, /^media.transcode 1 job stuck: running 5h\d\dm of its 6h timeout/);
  await line.getByText('team-media').waitFor();
  await click(line.getByRole('link'));
  await reads(page, 'Is it stuck?', /^Probably: running 5h\d\dm of its 6h timeout/);
  await reads(page, 'waiting for the lock of talk.mp4', /^Claimed by .*, last heartbeat/);
  await reads(page, 'team-media', '1 of 3');
});

it('a worker that died with a job in its hands', async () => {
  const { page, click } = await walk();
  const line = trouble(
    page,
    /^crm.migrate 1 job stranded: worker .* died .* ago \(killed, crashed or cut off\)/,
  );
  await line.getByText('team-crm').waitFor();
  await click(line.getByRole('link'));
  await reads(page, 'No live worker has crm.migrate@1 loaded.', /^Last heartbeat: /);
  await reads(page, /LEASE_EXPIRED/, 'team-crm', '1 of 3');
});

it('a pause with a backlog behind it', async () => {
  const { page, click } = await walk();
  const line = trouble(
    page,
    new RegExp(`^${problems.paused} jobs wait: invoices.export was paused.*the bank is closed`),
  );
  await line.getByText('team-finance').waitFor();
  await click(line.getByRole('link'));
  await reads(
    page,
    /paused .* ago by anonymous \(no keys\): the bank is closed until Monday/,
    'team-finance',
  );
  await click(page.getByRole('link', { name: 'All jobs' }));
  await page.getByText(`${problems.paused} jobs`, { exact: true }).waitFor();
  await click(page.getByRole('row').nth(1).getByRole('link'));
  await reads(page, 'Why isn’t it running?', /^invoices.export was paused/);
});

it('a schedule whose jobs fail', async () => {
  const { page, click } = await walk();
  const line = trouble(
    page,
    /^report.nightly 3 failed, the first [^:]* ago: the warehouse refused the password \(AUTHENTICATION_FAILED\); schedule nightly-report/,
  );
  await line.getByText('team-data').waitFor();
  await click(line.getByRole('link'));
  await click(page.getByRole('table', { name: 'Dead letters' }).getByRole('link').first());
  await reads(page, 'AUTHENTICATION_FAILED', 'the warehouse refused the password', 'team-data');
  await page.goto(`${problems.address}/ui/schedules`);
  await click(page.getByRole('link', { name: 'nightly-report' }));
  await expect.poll(async () => await page.getByText(/^failed, manual run/).count()).toBe(3);
});

it('a file of definitions that cannot be loaded', async () => {
  const { page, click } = await walk();
  const line = trouble(page, /could not load .*payments\.ts: Error: PAYMENTS_API_KEY is not set/);
  await click(line.getByRole('link'));
  await reads(page, 'Definitions that could not be loaded', 'Error: PAYMENTS_API_KEY is not set');
  await reads(page, /^Worker .* \(pid \d+\)$/);
  expect(await axeFindings(page)).toEqual([]);
});

it('a schedule whose definition no worker has registered', async () => {
  const { address } = problems;
  const mistyped = { definitionKey: 'order.import', name: 'mistyped', cron: '0 3 * * *' };
  const { body } = await post(`${address}/v1/schedules`, { ...mistyped, params: {} });
  const { page, click } = await walk();
  const line = trouble(page, /^Jobs of schedule mistyped will wait\./);
  await click(line.getByRole('link'));
  await reads(page, /^No worker has registered “order.import”: did you mean “orders.import”\?/);
  await page.getByRole('link', { name: 'New schedule of orders.import' }).waitFor();
  await page.goto(`${address}/ui/schedules`);
  const rows = page.getByRole('table', { name: 'Schedules' }).getByRole('row');
  await rows.filter({ hasText: 'mistyped' }).getByText('unknown definition').waitFor();
  expect(await page.getByText('unknown definition').count()).toBe(1);
  const { id } = body as { id: string };
  await fetch(`${address}/v1/schedules/${id}`, { method: 'DELETE' });
});

/** The last test: it adds to what the others count. */
it('what is wrong behind a long backlog', async () => {
  const { address } = problems;
  const ghost = await startJob(address, 'ghost.sync', {});
  const jobs = Array.from({ length: HIDDEN_BEHIND }, (_, order) => ({
    definitionKey: 'invoices.export',
    params: { order },
  }));
  await post(`${address}/v1/jobs/batch`, { jobs });
  await until('it has waited', async () => (await readJob(address, ghost)).warnings.length > 0);
  const { page, click } = await walk();
  await trouble(page, /^ghost.sync 1 job waits: no worker has this definition/).waitFor();
  await trouble(page, /^crm.migrate 1 job stranded: worker .* died/).waitFor();
  const load = page.getByRole('table', { name: /workload/ }).getByRole('row');
  const waits = load.filter({ hasText: 'ghost.sync' }).getByRole('cell').nth(2);
  await expect.poll(async () => await waits.innerText()).toMatch(/ago|now/);
  expect(await axeFindings(page)).toEqual([]);

  await click(page.getByRole('link', { name: 'Jobs', exact: true }));
  await page.getByLabel('Search jobs').fill('code:HANDLER_ERROR');
  await page.getByLabel('Search jobs').press('Enter');
  await page.waitForURL(/errorCode=HANDLER_ERROR/);
  const found = page.getByRole('table', { name: 'Jobs' }).getByRole('row');
  await found.filter({ hasText: 'could not be imported' }).first().waitFor();
  expect(await page.getByText('No matches so far').count()).toBe(0);
});
