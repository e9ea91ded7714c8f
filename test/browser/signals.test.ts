import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { jobInState, readJob, startJob } from '../support/api.ts';
import { axeFindings, dashboardPages } from '../support/servers/dashboard-page.ts';

const { shop, open, forgiveComplaints } = dashboardPages();

/** A job that waits for a decision, and the form for it on its page. */
async function waitingJob(order: number) {
  const id = await startJob(shop.address, 'order.refund', { order });
  await jobInState(shop.address, id, 'suspended');
  const page = await open(`/jobs/${id}`);
  const form = page.getByRole('region', { name: 'Signal decision' });
  await form.getByRole('button', { name: 'Approve' }).waitFor();
  return { id, page, form };
}

async function fits(page: Page): Promise<boolean> {
  const width = await page.evaluate<number>('document.documentElement.scrollWidth');
  return width <= (page.viewportSize()?.width ?? 0);
}

describe('the form for a signal', () => {
  it('refuses a wrong field with a clear text, and approves', async () => {
    const { id, page, form } = await waitingJob(7);
    await page.getByText('It waits for the signal “decision”.').waitFor();
    const amount = form.getByRole('textbox', { name: /^amount/ });
    expect(await amount.getAttribute('required')).not.toBeNull();
    await form.getByText('In euros, at most 500.').waitFor();
    // The decision is made by a button, not by a field.
    expect(await form.getByRole('combobox').count()).toBe(0);

    await amount.fill('a lot');
    await form.getByRole('button', { name: 'Approve' }).click();
    await form.getByText('must be a number').waitFor();
    expect(await amount.getAttribute('aria-invalid')).toBe('true');
    await amount.fill('900');
    await form.getByRole('button', { name: 'Approve' }).click();
    await form.getByText('must be <= 500').waitFor();
    // Said beside the field, and not a second time.
    expect(await page.getByText('must be <= 500').count()).toBe(1);
    forgiveComplaints();
    expect(await axeFindings(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await fits(page)).toBe(true);
    expect(await axeFindings(page)).toEqual([]);
    await page.setViewportSize({ width: 1360, height: 900 });
    expect((await readJob(shop.address, id)).status).toBe('suspended');

    await amount.fill('40');
    await form.getByLabel('note').fill('sorry');
    await form.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Signal sent.').waitFor();
    const { result } = await jobInState(shop.address, id, 'succeeded');
    expect(result).toEqual({ order: 7, paid: 40, note: 'sorry' });
    await form.waitFor({ state: 'detached' });
  });

  it('rejects', async () => {
    const { id, form } = await waitingJob(8);
    const amount = form.getByRole('textbox', { name: /^amount/ });
    await amount.fill('40');
    // Enter decides nothing.
    await amount.press('Enter');
    await form.getByRole('button', { name: 'Reject' }).click();
    const { result } = await jobInState(shop.address, id, 'succeeded');
    expect(result).toEqual({ order: 8, paid: 0, note: null });
  });

  it('copies a link with which a person without an account decides', async () => {
    const { id, page, form } = await waitingJob(9);
    await form.getByRole('button', { name: 'Copy approval link' }).click();
    await page.getByText('Link copied.').waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(copied).toMatch(new RegExp(`^${shop.address}/\\S+$`));
    await form.getByText(/^With this link, a person without an account can send/).waitFor();
    await form.getByText(copied, { exact: true }).waitFor();
    expect(await fits(page)).toBe(true);
    expect(await axeFindings(page)).toEqual([]);

    await page.goto(copied);
    await page.getByLabel(/^amount/).fill('12');
    await page.getByRole('button', { name: 'Approve' }).click();
    const { result } = await jobInState(shop.address, id, 'succeeded');
    expect(result).toMatchObject({ order: 9, paid: 12 });
    await page.goto(copied);
    await page.getByText(/It was used on/).waitFor();
    forgiveComplaints();
  });
});
