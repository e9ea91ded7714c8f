import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { BatchView } from '../../src/core/batch/batch.ts';
import { post } from '../support/api.ts';
import { axeFindings, dashboardPages } from '../support/servers/dashboard-page.ts';

const { shop, open, forgiveComplaints } = dashboardPages();
const HOUR_MS = 3_600_000;

const pageJob = (page: number, broken = false) => ({
  definitionKey: 'catalog.page',
  params: { page, broken },
});
const later = { ...pageJob(9), delayMs: HOUR_MS };
const resize = { definitionKey: 'image.resize', params: { url: 'batch.png', width: 8 } };

async function create(body: object, query = ''): Promise<BatchView> {
  const answer = await post(`${shop.address}/v1/batches${query}`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}

async function fits(page: Page): Promise<boolean> {
  const width = await page.evaluate<number>('document.documentElement.scrollWidth');
  return width <= (page.viewportSize()?.width ?? 0);
}

describe('the page of a batch', () => {
  it('shows live progress, and closes, cancels and retries the batch', async () => {
    const { id } = await create({
      name: 'spring catalogue',
      jobs: [pageJob(1), pageJob(2), pageJob(3, true), later],
      open: true,
      onComplete: resize,
      onSuccess: resize,
    });
    const page = await open('/batches');
    await page.getByRole('link', { name: 'spring catalogue' }).click();
    await page.getByRole('heading', { level: 1, name: /spring catalogue/ }).waitFor();
    await page
      .getByText('Open: it accepts jobs until it is closed. 3 of 4 jobs have ended, 1 failed.')
      .waitFor();
    await page.getByText('2 succeeded · 1 failed · 1 pending').waitFor();
    const callbacks = page.getByRole('region', { name: 'Callbacks' });
    await callbacks.getByText('suspended').first().waitFor();
    expect(await callbacks.getByRole('link', { name: /^image\.resize/ }).count()).toBe(2);
    expect(await axeFindings(page)).toEqual([]);

    // A job that another caller adds appears by itself.
    await post(`${shop.address}/v1/batches/${id}/jobs`, { jobs: [pageJob(4)] });
    await page.getByText('3 succeeded · 1 failed · 1 pending').waitFor();

    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByText('Batch closed.').waitFor();
    await page.getByText('Running: 4 of 5 jobs have ended, 1 failed.').waitFor();
    expect(await page.getByRole('button', { name: 'Close', exact: true }).count()).toBe(0);

    await page.getByRole('button', { name: 'Cancel' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel this batch?' });
    await dialog
      .getByText(/^Its job that has not ended is cancelled.*onComplete still runs/)
      .waitFor();
    await dialog.getByRole('button', { name: 'Cancel batch' }).click();
    await page.getByText(/^(Batch cancelled|Cancellation requested)\.$/).waitFor();
    await page.getByText('Cancelled: 3 of 5 jobs had succeeded.').waitFor();
    await callbacks.getByText('succeeded', { exact: true }).waitFor();
    await callbacks.getByText('failed', { exact: true }).waitFor();

    // One of the two fails again.
    await page.getByRole('button', { name: 'Retry 2 jobs' }).click();
    await page.getByText('Jobs requeued.').waitFor();
    await page.getByText(/^Failed: 1 failed of 5 jobs/).waitFor();
    await page.getByRole('button', { name: 'Retry 1 job' }).waitFor();
    expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
  });

  it('filters its jobs, which lead to it, as its own job does', async () => {
    const { id, onComplete } = await create({
      jobs: [...Array.from({ length: 52 }, (_, n) => pageJob(n)), pageJob(53, true)],
      onComplete: resize,
    });
    const page = await open(`/batches/${id}`);
    const title = page.getByRole('heading', {
      level: 1,
      name: new RegExp(`Batch ${id.slice(-12)}`),
    });
    await title.waitFor();
    await page.getByText(/^Failed: 1 failed of 53 jobs/).waitFor();
    const jobs = page.getByRole('table', { name: 'Jobs of the batch' });
    await expect.poll(async () => await jobs.getByRole('link').count()).toBe(50);
    await page.getByRole('link', { name: 'Next page' }).click();
    await expect.poll(async () => await jobs.getByRole('link').count()).toBe(3);
    await page.getByRole('link', { name: 'First page' }).click();
    await page.getByRole('link', { name: 'Failed 1', exact: true }).click();
    await expect.poll(async () => await jobs.getByRole('link').count()).toBe(1);
    await page.getByRole('link', { name: 'Cancelled 0', exact: true }).click();
    await page.getByText('No cancelled jobs.').waitFor();
    await page.getByRole('link', { name: 'Failed 1', exact: true }).click();
    await jobs.getByRole('link').click();
    await page
      .getByText(/page 53 of the catalogue has no picture/)
      .first()
      .waitFor();
    await page
      .getByRole('region', { name: 'Job of the batch', exact: true })
      .getByRole('link', { name: /^batch/ })
      .waitFor();
    await page.getByRole('link', { name: 'Job of a batch' }).click();
    await title.waitFor();

    await page.goto(`${shop.address}/ui/jobs/${onComplete}`);
    await page.getByRole('link', { name: 'Runs after a batch' }).click();
    await title.waitFor();
    await page.getByRole('link', { name: 'View its job' }).click();
    await page.getByText('BATCH_FAILED').first().waitFor();
    expect(await page.getByRole('button', { name: /^Retry/ }).count()).toBe(0);
    await page.getByRole('link', { name: 'View batch' }).first().click();
    await title.waitFor();

    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to or do' }).fill(id.slice(-12));
    await page.getByRole('option').filter({ hasText: 'Batch' }).first().click();
    await title.waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await jobs.waitFor();
    expect(await fits(page)).toBe(true);
    expect(await axeFindings(page)).toEqual([]);
  });

  it('of an unknown id leads back to the list', async () => {
    const page = await open('/batches/0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400');
    await page.getByText(/batch .* not found/i).waitFor();
    forgiveComplaints();
    await page.getByRole('link', { name: 'Back to batches' }).click();
    await page.getByRole('heading', { level: 1, name: 'Batches' }).waitFor();
  });
});

describe('the list of batches', () => {
  it('says how to make one, and then shows each with its progress, page by page', async () => {
    const tenant = 'batch-makers';
    await post(`${shop.address}/v1/tenants`, { tenant });
    const page = await open(`/batches?tenant=${tenant}`);
    await page.getByText('No batches yet.').waitFor();
    await page.getByText(/npx longshore batch create jobs\.jsonl/).waitFor();
    expect(await axeFindings(page)).toEqual([]);

    for (let n = 1; n <= 21; n += 1) {
      await create({ name: `round ${n}`, open: true }, `?tenant=${tenant}`);
    }
    const rows = page.getByRole('table', { name: 'Batches, newest first' });
    await page.reload();
    await rows.getByRole('link', { name: 'round 21' }).waitFor();
    expect(await rows.getByRole('link').count()).toBe(20);
    expect(await rows.getByText('open', { exact: true }).count()).toBe(20);
    await page.getByRole('link', { name: 'Next page' }).click();
    await rows.getByRole('link', { name: 'round 1', exact: true }).waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await fits(page)).toBe(true);
    expect(await axeFindings(page)).toEqual([]);
    await rows.getByRole('link', { name: 'round 1', exact: true }).click();
    await page.getByText(/It has no jobs yet\.$/).waitFor();
    expect(new URL(page.url()).searchParams.get('tenant')).toBe(tenant);
  });
});
