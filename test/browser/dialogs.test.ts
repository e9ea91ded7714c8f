import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { jobInState, startJob } from '../support/api.ts';
import { axeFindings, dashboardPages } from '../support/servers/dashboard-page.ts';

const { open, shop, forgiveComplaints } = dashboardPages();

const dialogOf = (page: Page) => page.getByRole('dialog');
const UNREACHABLE = "Can't reach the server. Your change was NOT applied.";

async function finishedJob(): Promise<string> {
  const jobId = await startJob(shop.address, 'image.resize', { url: 'dialog.png', width: 3 });
  await jobInState(shop.address, jobId, 'succeeded');
  return jobId;
}

describe('A dialog stays open', () => {
  it('when the server refuses, and shows why', async () => {
    const page = await open('/usage');
    await page.getByRole('button', { name: 'Add budget…' }).click();
    const dialog = dialogOf(page);
    await dialog.getByLabel('Name').fill('Not a name!');
    await dialog.getByLabel('Amount').fill('5');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').getByText(/^Name/).waitFor();
    expect(await dialog.getByLabel('Amount').inputValue()).toBe('5');
    expect(await page.locator('.toast-bad').count()).toBe(0);
    expect(await axeFindings(page)).toEqual([]);
    forgiveComplaints();
    await dialog.getByLabel('Name').fill('in-dialog');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Budget saved.').waitFor();
    await dialog.waitFor({ state: 'detached' });
    await fetch(`${shop.address}/v1/budgets/in-dialog`, { method: 'DELETE' });
  });

  it('when the server cannot be reached', async () => {
    const page = await open('/definitions/image.resize');
    await page.getByRole('button', { name: 'Pause…' }).click();
    const dialog = dialogOf(page);
    await dialog.getByLabel('Reason (shown to others)').fill('the disk is full');
    await page.context().setOffline(true);
    await dialog.getByRole('button', { name: 'Pause definition' }).click();
    await dialog.getByText(UNREACHABLE).waitFor();
    expect(await dialog.getByLabel('Reason').inputValue()).toBe('the disk is full');
    await page.context().setOffline(false);
    forgiveComplaints();
    await dialog.getByRole('button', { name: 'Pause definition' }).click();
    await page.getByText(/paused .* the disk is full/).waitFor();
    await page.getByRole('button', { name: 'Resume…' }).click();
    await dialog.getByRole('button', { name: 'Resume definition' }).click();
    await page.getByText('image.resize resumed.').waitFor();
    forgiveComplaints();
  });

  it('while the server answers, and sends once what is clicked twice', async () => {
    const jobId = await finishedJob();
    const page = await open(`/jobs/${jobId}`);
    let letThrough = () => {};
    const held = new Promise<void>((resolve) => (letThrough = resolve));
    let sent = 0;
    await page.route('**/v1/jobs', async (route) => {
      if (route.request().method() === 'POST') {
        sent += 1;
        await held;
      }
      await route.continue();
    });
    await page.getByRole('button', { name: 'Copy as new job…' }).click();
    const dialog = dialogOf(page);
    await dialog.getByRole('button', { name: 'Copy as new job' }).dblclick();
    await expect.poll(async () => await dialog.getByRole('button').first().isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    expect(await dialog.isVisible()).toBe(true);
    letThrough();
    await page.getByText('Job enqueued.').waitFor();
    await dialog.waitFor({ state: 'detached' });
    expect(sent).toBe(1);
  });

  it('when a bulk action cannot be started', async () => {
    const page = await open('/jobs?status=failed');
    await page
      .getByRole('button', { name: /^Retry/ })
      .first()
      .click();
    const dialog = dialogOf(page);
    await dialog.getByLabel('Max jobs per second').fill('7');
    await page.context().setOffline(true);
    await dialog.getByRole('button', { name: /^Retry/ }).click();
    await dialog.getByText(UNREACHABLE).waitFor();
    expect(await dialog.getByLabel('Max jobs per second').inputValue()).toBe('7');
    await page.context().setOffline(false);
    forgiveComplaints();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    forgiveComplaints();
  });

  it('when Escape would lose what was typed', async () => {
    const jobId = await finishedJob();
    const page = await open(`/jobs/${jobId}`);
    const opener = page.getByRole('button', { name: 'Copy as new job…' });
    const dialog = dialogOf(page);
    await opener.click();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });

    await opener.click();
    await dialog.getByLabel('Params').fill('{"url":"typed.png"}');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await dialog.getByText('Discard what you entered?').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Keep editing' }).click();
    expect(await dialog.getByLabel('Params').inputValue()).toBe('{"url":"typed.png"}');
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Discard' }).click();
    await dialog.waitFor({ state: 'detached' });
  });
});
