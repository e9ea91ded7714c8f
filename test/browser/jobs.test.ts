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

  it('has its actions in one row on a phone, those on all jobs in a menu', async () => {
    const page = await open('/jobs?status=failed');
    await page.getByRole('button', { name: 'Retry all matching…' }).waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    const actions = page.locator('.screen-head > .actions > *');
    const tops = await actions.evaluateAll((all) =>
      all.map((one) => (one as unknown as { offsetTop: number }).offsetTop),
    );
    expect(tops).toHaveLength(4);
    expect(new Set(tops).size).toBe(1);
    await page.getByText('Actions', { exact: true }).click();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Retry all matching…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
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
    expect(await page.getByLabel('Search jobs').inputValue()).toBe(
      'definition:billing.send-invoice tag:eu',
    );
    expect(page.url()).toBe(before.href);
    await page.getByLabel('Search jobs').fill('no.such.definition');
    await page.getByLabel('Search jobs').press('Enter');
    await page.getByText('No matching jobs.').waitFor();
    await page.getByRole('link', { name: 'Show all jobs' }).click();
    await page.getByRole('row').nth(2).waitFor();
    await page.getByLabel('Search jobs').fill('definition:billing.send-invoise');
    await page.getByLabel('Search jobs').press('Enter');
    await page.getByText(/^No job has definition:billing.send-invoise: did you mean/).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('link', { name: 'Search definition:billing.send-invoice' }).click();
    await page.getByRole('row').nth(1).waitFor();
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
    await page.getByText(id.slice(-12)).waitFor();
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
    await first.getByText(id.slice(-12)).waitFor();
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
    expect(await row.innerText()).toContain('<b>team</b>');
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.title()).toBe('Jobs · Longshore');
  });

  it('leads on from a job id, and says what it does not understand', async () => {
    const page = await open('/jobs?status=failed');
    await page.getByLabel('Search jobs').fill('owmer:billing');
    await page.getByLabel('Search jobs').press('Enter');
    await page.getByText('Invalid search: unknown filter "owmer": did you mean "owner"?').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByLabel('Search jobs').fill(shop.failed);
    await page.getByLabel('Search jobs').press('Enter');
    await page.waitForURL(`**/ui/jobs/${shop.failed}`);
  });

  it('searches by status, owner, part of a definition and text, several at once', async () => {
    const page = await open('/jobs');
    const field = page.getByLabel('Search jobs');
    await field.fill('status:failed owner:billing could not be sent');
    await field.press('Enter');
    await page.waitForURL(/q=owner/);
    await page.getByRole('row').filter({ hasText: 'INV-2291' }).waitFor();
    const failed = page.getByRole('link', { name: 'Failed', exact: true });
    expect(await failed.getAttribute('aria-current')).toBe('page');
    await page.getByRole('link', { name: 'All', exact: true }).click();
    await field.fill('crm');
    await field.press('Enter');
    await page.waitForURL(/q=crm/);
    await page.getByRole('row').filter({ hasText: 'crm.sync' }).first().waitFor();
    await field.fill(shop.failed.slice(-12));
    await field.press('Enter');
    await page.getByText('1 job', { exact: true }).waitFor();
    await page
      .getByRole('row')
      .filter({ hasText: shop.failed.slice(-12) })
      .waitFor();
  });

  it('completes what is typed, with the keyboard', async () => {
    const page = await open('/jobs?status=failed');
    const field = page.getByRole('combobox', { name: 'Search jobs' });
    await field.click();
    await page.getByRole('option', { name: 'owner:' }).waitFor();
    await field.pressSequentially('own');
    await field.press('ArrowDown');
    expect(await field.getAttribute('aria-activedescendant')).not.toBeNull();
    await field.press('Enter');
    await page.getByRole('option', { name: 'owner:team-billing' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await field.pressSequentially('bill');
    await field.press('ArrowDown');
    await field.press('Tab');
    expect(await field.inputValue()).toBe('owner:team-billing ');
    await field.press('Escape');
    expect(await field.getAttribute('aria-expanded')).toBe('false');
    await field.press('Enter');
    await page.waitForURL(/q=owner%3Ateam-billing/);
    await page.getByRole('row').filter({ hasText: 'INV-2291' }).waitFor();
  });

  it('selects rows with the mouse and the keyboard, and acts on them alone', async () => {
    const ids: string[] = [];
    for (const n of [1, 2, 3, 4]) {
      ids.push(await startJob(shop.address, 'no-worker.has-this', { picked: n }));
    }
    const page = await open('/jobs?definitionKey=no-worker.has-this');
    const boxes = page.getByRole('row').getByRole('checkbox', { name: /^Select no-worker/ });
    await boxes.nth(3).waitFor();
    await boxes.nth(0).click();
    await boxes.nth(2).click({ modifiers: ['Shift'] });
    await page.getByText('3 selected jobs').waitFor();
    await page.locator('[data-row]').nth(1).focus();
    await page.keyboard.press('x');
    const bar = page.getByRole('group', { name: 'Selected jobs' });
    await bar.getByText('2 selected jobs').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect(await bar.getByRole('button', { name: 'Retry selected' }).isDisabled()).toBe(true);
    await bar.getByRole('button', { name: 'Cancel selected' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel 2 selected jobs' });
    await dialog.getByText('2 jobs match').waitFor();
    await dialog.getByLabel('Type 2 to confirm').fill('2');
    await dialog.getByRole('button', { name: 'Cancel 2 jobs' }).click();
    await dialog.getByText('2 jobs cancelled.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    const states = ids.map(async (id) => {
      const answer = await fetch(`${shop.address}/v1/jobs/${id}`);
      return ((await answer.json()) as { status: string }).status;
    });
    // Newest first: the first and the third row are the fourth and the second job.
    expect(await Promise.all(states)).toEqual(['queued', 'cancelled', 'queued', 'cancelled']);
  });

  it('saves a view for everyone, and exports what it shows', async () => {
    const page = await open('/jobs?status=failed&q=owner%3Abilling');
    await page.getByText('Views', { exact: true }).click();
    await page.getByRole('button', { name: 'Save this view…' }).click();
    await page.getByLabel('Name').fill('Billing, failed');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('View: Billing, failed').waitFor();
    await page.getByText('Export', { exact: true }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('jobs.csv');
    const text = await (await fetch(download.url())).text();
    expect(text).toMatch(/^jobId,[\s\S]*INV-2291/);
    expect(text).not.toContain('crm.sync');

    const other = await open('/jobs');
    await other.getByText('Views', { exact: true }).click();
    await other.getByRole('link', { name: 'Billing, failed' }).click();
    await other.waitForURL(/status=failed&q=owner%3Abilling/);
    await other.getByRole('button', { name: 'Delete the view Billing, failed' }).click();
    await other.getByText('View “Billing, failed” deleted.').waitFor();
  });

  it('shows all times in the chosen time zone', async () => {
    const page = await open('/jobs?status=failed');
    const time = page.getByRole('row').nth(1).locator('time').first();
    await time.waitFor();
    const at = String(await time.getAttribute('datetime'));
    const hourIn = (timeZone: string) =>
      new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle: 'medium' }).format(new Date(at));
    for (const zone of ['UTC', 'Asia/Tokyo']) {
      await page.getByLabel('Time zone').focus();
      await page.getByLabel('Time zone').selectOption(zone);
      expect(await time.getAttribute('title')).toContain(hourIn(zone));
    }
    await page.reload();
    await time.waitFor();
    expect(await time.getAttribute('title')).toContain(hourIn('Asia/Tokyo'));
  });

  it('starts a job of a chosen definition, and compares two selected ones', async () => {
    const page = await open('/jobs');
    await page.getByRole('link', { name: 'New job' }).click();
    await page.getByLabel('Definition').selectOption('image.resize');
    await page.waitForURL(/\/jobs\/new\?definition=image.resize/);
    await page.getByRole('textbox', { name: 'Params' }).fill('{"url":"new.png","width":5}');
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Run job' }).click();
    await page.getByText(/^Succeeded on attempt 1/).waitFor();
    await page.getByText(/ from creation to end$/).waitFor();

    await page.goto(`${shop.address}/ui/jobs?definitionKey=image.resize`);
    const rows = page.getByRole('table', { name: 'Jobs' }).getByRole('row');
    await rows.nth(1).getByRole('checkbox').check();
    expect(await page.getByRole('link', { name: 'Compare' }).count()).toBe(0);
    await rows.nth(2).getByRole('checkbox').check();
    await page.getByRole('link', { name: 'Compare' }).click();
    await page.getByRole('table', { name: 'Facts of both runs' }).waitFor();
  });
});
