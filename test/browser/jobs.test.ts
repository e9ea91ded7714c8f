import { describe, expect, it } from 'vitest';
import { startJob } from '../support/api.ts';
import { axeFindings, dashboardPages } from '../support/servers/dashboard-page.ts';
import { HOSTILE } from '../support/servers/dashboard-server.ts';

const { shop, open } = dashboardPages();

describe('the list of jobs', () => {
  it('shows what is there, and what happened to it', async () => {
    const page = await open('/jobs?status=failed');
    const failed = page.getByRole('row').filter({ hasText: 'INV-2291' });
    await failed.getByText('HANDLER_ERROR invoice INV-2291 could not be sent').waitFor();
    expect(await failed.innerText()).toMatch(/failed[\s\S]*3\/3[\s\S]*team-billing/);
    expect(await axeFindings(page)).toEqual([]);
  });

  it('keeps the view in the address: it is the same after a reload', async () => {
    const page = await open('/jobs');
    await page.getByRole('link', { name: 'Failed', exact: true }).click();
    await page.getByLabel('Search jobs').fill('billing.send-invoice tag:eu');
    await page.getByLabel('Search jobs').press('Enter');
    await page.getByLabel('Created').selectOption('24h');
    await page.waitForURL(/since=24h/);
    const before = new URL(page.url());
    expect(Object.fromEntries(before.searchParams)).toEqual({
      status: 'failed',
      definitionKey: 'billing.send-invoice',
      tag: 'eu',
      since: '24h',
    });
    await page.reload();
    await page.getByRole('row').nth(1).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    expect(await page.getByLabel('Search jobs').inputValue()).toBe('billing.send-invoice tag:eu');
    expect(page.url()).toBe(before.href);
    await page.getByLabel('Search jobs').fill('no.such.definition');
    await page.getByLabel('Search jobs').press('Enter');
    await page.getByText('No matching jobs.').waitFor();
    await page.getByRole('link', { name: 'Show all jobs' }).click();
    await page.getByRole('row').nth(2).waitFor();
  });

  it('shows a new job without being asked', async () => {
    const page = await open('/jobs');
    // Without timers nothing is asked every few seconds: only the stream can tell of the job.
    await page.addInitScript(() => {
      globalThis.setInterval = (() => 0) as unknown as typeof setInterval;
    });
    const streaming = page.waitForResponse(/\/v1\/stream$/);
    await page.reload();
    await page.getByRole('row').nth(1).waitFor();
    expect((await streaming).status()).toBe(200);
    const id = await startJob(shop.address, 'image.resize', { url: 'new.png', width: 1 });
    await page.getByText(id.slice(0, 13)).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
  });

  it('never moves a row away from under the pointer', async () => {
    const page = await open('/jobs');
    const first = page.getByRole('row').nth(1);
    await first.hover();
    const before = await first.locator('.id').innerText();
    const id = await startJob(shop.address, 'image.resize', { url: 'late.png', width: 1 });
    await page.getByRole('button', { name: '1 new: show' }).waitFor();
    expect(await first.locator('.id').innerText()).toBe(before);
    await page.getByRole('button', { name: '1 new: show' }).click();
    await first.getByText(id.slice(0, 13)).waitFor();
  });

  it('goes from page to page', async () => {
    const jobs = Array.from({ length: 55 }, (_, index) => ({
      definitionKey: 'image.resize',
      params: { url: `page-${index}.png`, width: 1 },
      tags: ['paged'],
    }));
    const answer = await fetch(`${shop.address}/v1/jobs/batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jobs }),
    });
    expect(answer.status).toBe(202);
    const page = await open('/jobs?tag=paged');
    await page.getByText('50 jobs, and more').waitFor();
    await page.getByRole('link', { name: 'Next page' }).click();
    await page.getByText('5 jobs', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'First page' }).click();
    await page.getByText('50 jobs, and more').waitFor();
    await page.goBack();
    await page.getByText('5 jobs', { exact: true }).waitFor();
  });

  it('can be used without a mouse', async () => {
    const page = await open('/jobs?status=failed');
    await page.getByRole('row').nth(1).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    const focused = page.locator('[data-row]:focus');
    expect(await focused.innerText()).toBe(await page.locator('[data-row]').first().innerText());
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Why it failed' }).waitFor();
    await page.keyboard.press('/');
    await page.waitForURL(/\/ui\/jobs$/);
    await page.locator('#search:focus').waitFor();
    await page.keyboard.type(shop.retrying);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'crm.sync' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByLabel('Enable single-key shortcuts').uncheck();
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('shows hostile words as words', async () => {
    const page = await open('/jobs?definitionKey=hostile');
    const row = page.getByRole('row').nth(1);
    await row.getByText(HOSTILE).last().waitFor();
    expect(await row.innerText()).toContain('<b>nobody</b>');
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.title()).toBe('Jobs · Longshore');
  });

  it('leads on from a job id, and says what it does not understand', async () => {
    const page = await open('/jobs');
    await page.getByLabel('Search jobs').fill('two words');
    await page.getByLabel('Search jobs').press('Enter');
    await page.getByText('Invalid search').waitFor();
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await page.getByLabel('Search jobs').fill(shop.failed);
    await page.getByLabel('Search jobs').press('Enter');
    await page.waitForURL(`**/ui/jobs/${shop.failed}`);
  });
});
