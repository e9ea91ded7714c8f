import { describe, expect, it } from 'vitest';
import { jobInState, readJob, startJob } from '../support/api.ts';
import { axeFindings, dashboardPages } from '../support/servers/dashboard-page.ts';
import { HOSTILE } from '../support/servers/dashboard-server.ts';

const { shop, open } = dashboardPages();

const fail = async (invoiceId: string) => {
  const params = { invoiceId, email: 'amy@down.example' };
  const id = await startJob(shop.address, 'billing.send-invoice', params, { tags: ['bulk'] });
  await jobInState(shop.address, id, 'failed');
  return id;
};

describe('errors', () => {
  it('are counted by what went wrong, with their owner and an example', async () => {
    await fail('INV-31');
    const page = await open('/errors');
    const row = page.getByRole('row').filter({ hasText: 'could not be sent' });
    await row.getByText('team-billing').waitFor();
    await row.getByRole('img', { name: /times in 24 hours$/ }).waitFor();
    await page.getByText(HOSTILE).first().waitFor();
    expect(await page.locator('main img').count()).toBe(0);
    expect(await axeFindings(page)).toEqual([]);
    await row.getByRole('link', { name: 'View example' }).click();
    await page.getByRole('heading', { name: 'Why it failed' }).waitFor();
    await page.goBack();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(/dead-letters\?fingerprint=/);
  });
});

describe('dead letters', () => {
  it('are a table of definition, error and time, in which every cell leads to its jobs', async () => {
    await fail('INV-32');
    const page = await open('/dead-letters');
    const matrix = page.getByRole('table', { name: /Failures by definition/ });
    const row = matrix.getByRole('row').filter({ hasText: 'could not be sent' });
    await row.getByText('team-billing').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await row.locator('.heat').last().getByRole('link').click();
    await page.waitForURL(/from=.*to=/);
    await page.getByRole('button', { name: 'One part of the time ×' }).waitFor();
    const jobs = page.getByRole('table', { name: 'Dead letters' });
    await jobs.getByText('invoice INV-32 could not be sent').waitFor();
    await jobs.getByText('hostile').first().waitFor({ state: 'detached' });
    await page.reload();
    // The table and its buttons are about the chosen error, which the filter names.
    await expect.poll(async () => await matrix.getByRole('row').count()).toBe(2);
    await row.waitFor();
    await page.getByRole('button', { name: /^Only .*could not be sent.* ×$/ }).click();
    await page.getByRole('combobox', { name: 'Definition' }).selectOption('');
    await page.getByLabel('Failed').selectOption('24h');
    await jobs.getByText('hostile').first().waitFor();
    await page.getByLabel('Search dead letters').fill('INV-32');
    await page.getByLabel('Search dead letters').press('Enter');
    await page.waitForURL(/q=INV-32/);
    await expect.poll(async () => await jobs.getByRole('row').count()).toBe(2);
    // The table above counts the same jobs, and its buttons act on these.
    await expect.poll(async () => await matrix.getByRole('row').count()).toBe(2);
    await row.getByRole('button', { name: /^Retry / }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('1 job matches').waitFor();
    await dialog.getByText(/matching INV-32/).waitFor();
    await dialog.getByRole('button', { name: 'Cancel', exact: true }).click();
  });

  it('are searched again without a typo or a filter, when none matches', async () => {
    await fail('INV-34');
    const page = await open('/dead-letters?q=definition:billing.send-invoise&errorCode=TIMEOUT');
    await page.getByText(/^No job has definition:billing.send-invoise: did you mean/).waitFor();
    await page.getByRole('link', { name: 'Show all times' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('link', { name: 'Without “TIMEOUT”' }).click();
    await page.getByRole('link', { name: 'Search definition:billing.send-invoice' }).click();
    const jobs = page.getByRole('table', { name: 'Dead letters' });
    await jobs.getByText('invoice INV-34 could not be sent').waitFor();
  });

  it('are retried and deleted by group, after a look at what that is about', async () => {
    const id = await fail('INV-33');
    const page = await open('/dead-letters?q=INV-33');
    await page.getByRole('button', { name: 'Retry all matching…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('1 job matches').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await dialog.getByLabel('Max jobs per second').fill('100');
    await dialog.getByRole('button', { name: /^Retry \d+ jobs?$/ }).click();
    await dialog.getByText('1 job queued again.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await jobInState(shop.address, id, 'failed');
    expect((await readJob(shop.address, id)).maxAttempts).toBe(4);
    const result = page.getByRole('status', { name: 'Result of the last retry' });
    await result.getByText(/1 job queued again\. 0 succeeded, 1 failed again\./).waitFor();
    await result.getByRole('link', { name: 'View failed ones' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await result.getByRole('button', { name: 'Dismiss' }).click();
    await result.waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Delete all matching…' }).click();
    const danger = dialog.getByRole('button', { name: 'Delete 1 job' });
    await dialog.getByText('1 job matches').waitFor();
    expect(await danger.isDisabled()).toBe(true);
    await dialog.getByLabel('Type 1 to confirm').fill('1');
    await danger.click();
    await dialog.getByText('1 job deleted.').waitFor();
    await dialog.getByRole('link', { name: 'All bulk actions' }).click();
    const newest = page.getByRole('row').nth(1);
    await newest.getByText('1 job deleted.').waitFor();
    await newest.getByText('finished', { exact: true }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect((await fetch(`${shop.address}/v1/jobs/${id}`)).status).toBe(404);
  });
});

describe('many jobs', () => {
  it('are cancelled by what is filtered, and a long action can be stopped', async () => {
    const held = { hold: true, tags: ['to-cancel'] };
    for (const width of [1, 2]) {
      await startJob(shop.address, 'image.resize', { url: 'c', width }, held);
    }
    const page = await open('/jobs');
    await page.getByRole('row').nth(1).waitFor();
    expect(await page.getByRole('button', { name: /all matching/ }).count()).toBe(0);
    await page.getByLabel('Search jobs').fill('tag:to-cancel "width"');
    await page.getByLabel('Search jobs').press('Enter');
    await page.getByText('2 jobs', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Cancel all matching…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('2 jobs match').waitFor();
    await dialog.getByLabel('Type 2 to confirm').fill('2');
    await dialog.getByRole('button', { name: 'Cancel 2 jobs' }).click();
    await dialog.getByText('2 jobs cancelled.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();

    await page.getByRole('link', { name: 'Cancelled' }).click();
    await page.getByText('2 jobs', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Retry all matching…' }).click();
    await dialog.getByLabel('Max jobs per second').fill('0.01');
    await dialog.getByRole('button', { name: /^Retry \d+ jobs?$/ }).click();
    await dialog.getByText('1 of 2 jobs queued again.').waitFor();
    await dialog.getByRole('button', { name: 'Stop' }).click();
    await dialog.getByText('1 of 2 jobs queued again. Stopped by a user.').waitFor();
    await page.keyboard.press('Escape');
  });
});
