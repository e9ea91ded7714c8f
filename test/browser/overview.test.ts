import { describe, expect, it } from 'vitest';
import { jobInState, startJob } from '../support/api.ts';
import { axeFindings, dashboardPages } from '../support/servers/dashboard-page.ts';
import { prefixProxy } from '../support/servers/prefix-proxy.ts';

const { shop, open } = dashboardPages();

/** The part of a browser that is needed here: this file is compiled for Node. */
interface BrowserWindow {
  document: { body: object; documentElement: { scrollWidth: number } };
  innerWidth: number;
  getComputedStyle(element: object): { backgroundColor: string };
}

describe('the overview', () => {
  it('says what needs a person, and leads there', async () => {
    const again = { invoiceId: 'INV-30', email: 'amy@down.example' };
    const second = await startJob(shop.address, 'billing.send-invoice', again);
    await jobInState(shop.address, second, 'failed');
    const page = await open('/');
    await page.getByText(/^\d+ issues need attention$/).waitFor();
    await page
      .getByRole('link', { name: 'video.transcode 1 job waits: no worker has this definition.' })
      .waitFor();
    await page.getByRole('link', { name: /^hostile 1 failed, .* ago: .*<img/ }).waitFor();
    await page.getByRole('link', { name: /^Retrying 1 next in/ }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page
      .getByRole('link', { name: /^billing.send-invoice \d+ failed, the first .* ago: / })
      .click();
    await page.getByRole('heading', { level: 1, name: 'Dead letters' }).waitFor();
    await page.getByRole('button', { name: /^Only .*could not be sent.* ×$/ }).waitFor();
  });

  it('shows new failures by itself, alike ones together', async () => {
    const page = await open('/');
    const row = page.getByRole('row').filter({ hasText: 'could not be sent' });
    await row.waitFor();
    const before = Number((await row.innerText()).split(/\s/)[0]);
    const params = { invoiceId: 'INV-9', email: 'x@down.example' };
    const id = await startJob(shop.address, 'billing.send-invoice', params);
    await jobInState(shop.address, id, 'failed');
    await row.getByText(String(before + 1), { exact: true }).waitFor();
    await row.getByText(/could not be sent ← connect ECONNREFUSED/).waitFor();
  });

  it('leads everywhere by the menu and by the keyboard', async () => {
    const page = await open('/');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    for (const [keys, heading] of [
      ['gj', 'Jobs'],
      ['gc', 'Batches'],
      ['ge', 'Errors'],
      ['gl', 'Dead letters'],
      ['gb', 'Bulk actions'],
      ['gh', 'Webhooks'],
      ['gr', 'Alerts'],
      ['gu', 'Usage'],
      ['ga', 'Audit'],
      ['gt', 'Settings'],
      ['gs', 'Schedules'],
      ['gd', 'Definitions'],
      ['gp', 'Deployments'],
      ['gw', 'Workers'],
      ['go', 'Overview'],
    ] as const) {
      for (const key of keys) await page.keyboard.press(key);
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
      await page.locator('nav [aria-current=page]').getByText(heading).waitFor();
    }
  });

  it('fits on a phone, where the menu is folded', async () => {
    const page = await open('/');
    await page.setViewportSize({ width: 390, height: 844 });
    const fits = async () =>
      await page.evaluate(() => {
        const { document, innerWidth } = globalThis as unknown as BrowserWindow;
        return document.documentElement.scrollWidth <= innerWidth;
      });
    const menu = page.getByRole('button', { name: 'Menu' });
    const links = page.getByRole('navigation', { name: 'Screens' }).getByRole('listitem');
    await menu.click();
    const count = await links.count();
    expect(count).toBeGreaterThan(10);
    for (let at = 0; at < count; at += 1) {
      if (at > 0) await menu.click();
      const title = (await links.nth(at).innerText()).replace(/\s*\d*$/, '');
      await links.nth(at).getByRole('link').click();
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
      // Several panels of one screen load side by side.
      await expect.poll(async () => await page.getByText('Loading…').count()).toBe(0);
      expect(await menu.getAttribute('aria-expanded')).toBe('false');
      expect(await fits(), title).toBe(true);
    }
    await page.goto(`${shop.address}/ui/jobs/${shop.hostile}`);
    await page.getByRole('log').waitFor();
    expect(await fits()).toBe(true);
    expect(await axeFindings(page)).toEqual([]);
  });

  it('remembers the theme', async () => {
    const page = await open('/');
    const ground = async () =>
      await page.evaluate(() => {
        const browser = globalThis as unknown as BrowserWindow;
        return browser.getComputedStyle(browser.document.body).backgroundColor;
      });
    const light = await ground();
    await page.getByRole('button', { name: 'Theme: system' }).click();
    await page.getByRole('button', { name: 'Theme: light' }).click();
    await page.getByRole('button', { name: 'Theme: dark' }).waitFor();
    const dark = await ground();
    expect(dark).not.toBe(light);
    await page.reload();
    await page.getByRole('button', { name: 'Theme: dark' }).waitFor();
    expect(await ground()).toBe(dark);
  });

  it('works below the path of a proxy, on deep links too', async () => {
    await using proxy = await prefixProxy(shop.address, '/tools/queue');
    const page = await open('/');
    await page.goto(`${proxy.address}/tools/queue/`);
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await page.waitForURL('**/tools/queue/ui/jobs');
    await page.getByRole('row').nth(1).waitFor();
    await page.goto(`${proxy.address}/tools/queue/ui/jobs/${shop.failed}`);
    await page.getByRole('log').getByText('smtp.internal:587 does not answer').first().waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByText(/issues need attention$/).waitFor();
    expect(proxy.strays).toEqual([]);
    // The page follows the server through the proxy, and would complain when that is gone.
    await page.goto('about:blank');
  });

  it('has no screen that does not exist', async () => {
    const page = await open('/nowhere/at/all');
    await page.getByText('This page does not exist.').waitFor();
    await page.getByRole('link', { name: 'Go to the overview' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  });
});
