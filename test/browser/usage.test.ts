import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { jobInState, startJob } from '../support/api.ts';
import { axeFindings, dashboardPages } from '../support/servers/dashboard-page.ts';
import { until } from '../support/until.ts';

const { shop, open, forgiveComplaints } = dashboardPages();

/** A job ends, and the roll-up has counted it. */
async function useSome(): Promise<void> {
  const id = await startJob(shop.address, 'image.resize', { url: 'usage.png', width: 1 });
  await jobInState(shop.address, id, 'succeeded');
  await until('the roll-up has run', async () => {
    const answer = await fetch(
      `${shop.address}/v1/usage?groupBy=definition&definitionKey=image.resize`,
    );
    const { total } = (await answer.json()) as { total: { jobs: number; runSeconds: number } };
    return total.jobs > 0 && total.runSeconds > 0;
  });
}

describe('usage', () => {
  it('is drawn by day, listed by definition, and downloaded as CSV', async () => {
    await useSome();
    const page = await open('/usage');
    await page.getByRole('img', { name: /^CPU time per day, last 30 days: / }).waitFor();
    const row = page.getByRole('row').filter({ hasText: 'image.resize' });
    await row.getByText(/MiB/).waitFor();
    await page.getByRole('row').filter({ hasText: 'Total' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Jobs', exact: true }).click();
    await page.getByRole('button', { name: '7 d', exact: true }).click();
    await page.getByRole('img', { name: /^Jobs per day, last 7 days: [1-9]/ }).waitFor();
    expect(new URL(page.url()).search).toBe('?measure=jobs&range=7d');
    await page.reload();
    await page.getByRole('button', { name: '7 d', exact: true, pressed: true }).waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download CSV' }).click();
    const file = await readFile(await (await download).path(), 'utf8');
    expect(file.split('\r\n')[0]).toBe(
      'day,definitionKey,jobs,attempts,runSeconds,cpuSeconds,peakRssBytes',
    );
    expect(file).toMatch(/,image\.resize,[1-9]/);
    await page.getByLabel('All tenants').check();
    await page.getByRole('columnheader', { name: 'Tenant' }).waitFor();
    await page.getByRole('button', { name: 'Custom…' }).click();
    await page.getByRole('textbox', { name: 'From' }).fill('2020-01-01');
    await page.getByRole('textbox', { name: 'To' }).fill('2019-01-01');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByText('The first day must not be after the last.').waitFor();
    await page.getByRole('textbox', { name: 'To' }).fill('2020-01-31');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByText('No job ended: 2020-01-01 to 2020-01-31.').waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });

  it('leads to a definition and back', async () => {
    await useSome();
    const page = await open('/usage');
    await page.getByRole('link', { name: 'image.resize' }).click();
    await page.getByRole('heading', { name: 'image.resize', level: 1 }).waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Usage', exact: true }).click();
    await page.waitForURL(/\/usage\?definition=image\.resize$/);
    await page.getByText('Only image.resize').waitFor();
    await expect.poll(async () => await page.getByRole('row').count()).toBe(3);
    await page.getByRole('link', { name: 'All definitions' }).click();
    await page.getByText('Only image.resize').waitFor({ state: 'detached' });
  });
});

describe('budgets', () => {
  it('are made, changed and deleted beside the usage', async () => {
    await useSome();
    const page = await open('/usage');
    await page.getByRole('button', { name: 'Add budget…' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Enter a name.').waitFor();
    await page.getByLabel('Name').fill('Not A Name');
    await page.getByLabel('Amount').fill('1');
    await page.getByRole('combobox', { name: 'Measure' }).selectOption('Jobs');
    await page.getByRole('combobox', { name: 'Definition' }).selectOption('image.resize');
    await page.getByRole('button', { name: 'Save' }).click();
    await page
      .getByRole('alert')
      .getByText(/lower-case letters/)
      .waitFor();
    forgiveComplaints();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByLabel('Name').fill('resizes');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Budget saved.').waitFor();
    const row = page.getByRole('row').filter({ hasText: 'resizes' });
    await row.getByText('1 jobs of image.resize per day').waitFor();
    await row.getByText('used up').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await row.getByRole('button', { name: 'Change…' }).click();
    await page.getByLabel('Amount').fill('1000000');
    await page.getByRole('combobox', { name: 'Per' }).selectOption('month');
    await page.getByRole('button', { name: 'Save' }).click();
    await row.getByText('1,000,000 jobs of image.resize per month').waitFor();
    await row.getByText('0 %').waitFor();
    await row.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete budget' }).click();
    await row.waitFor({ state: 'detached' });
  });

  it('fire alerts that lead to the usage of their definition', async () => {
    await useSome();
    const body = { definitionKey: 'image.resize', measure: 'jobs', period: 'day', amount: 1 };
    const url = `${shop.address}/v1/budgets/alerting`;
    const headers = { 'content-type': 'application/json' };
    await fetch(url, { method: 'PUT', headers, body: JSON.stringify(body) });
    const page = await open('/alerts');
    await page
      .getByRole('link', { name: /% of a budget is used: alerting, \d+ of 1 jobs of image.resize/ })
      .first()
      .click({ timeout: 60_000 });
    await page.waitForURL(/\/usage\?definition=image\.resize$/);
    await fetch(url, { method: 'DELETE' });
  });
});
