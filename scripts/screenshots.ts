/**
 * Makes the pictures of docs/images: a real server with a real day's trouble, in a real browser. It
 * works for ten minutes first, so that charts have something to show: `npm run screenshots -- 0` does
 * not wait for that.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { jobInState, post, startJob } from '../test/support/api.ts';
import { openBrowser, visit } from '../test/support/servers/browser.ts';
import { openShop, type Shop } from '../test/support/servers/dashboard-server.ts';
import { endAll } from '../test/support/processes.ts';
import { until } from '../test/support/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'longshore-pictures-'));
const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const images = `${root}/docs/images/`;
const SLOTS_SHOWN = 9;
const MINUTES_DEFAULT = 10;
const minutes = Number(process.argv[2] ?? MINUTES_DEFAULT);

/** Orders come and go; every so often the card or the courier fails at first. */
async function makeHistory({ address }: Shop): Promise<void> {
  const end = Date.now() + minutes * 60_000;
  for (let second = 0; Date.now() < end; second += 1) {
    const busy = 2 + Math.round(2 * Math.sin(second / 40));
    for (let job = 0; job < busy; job += 1) {
      const url = `https://cdn.example/order-${second}-${job}.jpg`;
      await startJob(address, 'image.resize', { url, width: 320 });
    }
    if (second % 6 === 0) {
      await startJob(address, 'order.fulfil', { orderId: `ord-${second}`, stepMs: 40 * busy });
    }
    await sleep(1_000);
  }
}

async function makeTrouble({ address }: Shop): Promise<{ report: string }> {
  const jobs = Array.from({ length: 24 }, (_, index) => ({
    definitionKey: 'image.resize',
    params: { url: `https://cdn.example/product-${index}.jpg`, width: 320 + index },
  }));
  await post(`${address}/v1/jobs/batch`, { jobs });
  const month = { month: '2026-10', pages: 120, pageMs: 400 };
  const report = await startJob(address, 'report.build', month, { tags: ['monthly'] });
  for (const account of ['globex', 'initech']) await startJob(address, 'crm.sync', { account });
  for (const invoiceId of ['INV-2292', 'INV-2307', 'INV-2311']) {
    const params = { invoiceId, email: 'accounts@down.example' };
    await jobInState(address, await startJob(address, 'billing.send-invoice', params), 'failed');
  }
  const held = { url: 'https://cdn.example/hero.jpg', width: 2400 };
  await startJob(address, 'image.resize', held, { hold: true });
  const { body } = await post(`${address}/v1/schedules`, {
    definitionKey: 'image.resize',
    name: 'thumbnails',
    cron: '* * * * * *',
    params: { url: 'https://cdn.example/new.jpg', width: 160 },
  });
  const schedule = (body as { id: string }).id;
  await until('some slots have passed', async () => {
    const answer = await fetch(`${address}/v1/schedules/${schedule}/slots`);
    return ((await answer.json()) as { slots: unknown[] }).slots.length >= SLOTS_SHOWN;
  });
  const calm = { cron: '*/15 * * * *', timezone: 'Europe/Berlin' };
  const json = { 'content-type': 'application/json' };
  const url = `${address}/v1/schedules/${schedule}`;
  await fetch(url, { method: 'PATCH', headers: json, body: JSON.stringify(calm) });
  return { report };
}

try {
  const shop = await openShop(join(folder, 'data'), { hostile: false });
  await makeHistory(shop);
  const { report } = await makeTrouble(shop);
  mkdirSync(images, { recursive: true });
  const browser = await openBrowser();
  const shots = [
    ['overview', 'light', '/?range=15m', 'Next schedules'],
    ['dead-letters', 'light', '/dead-letters?window=24h', 'latest failure first'],
    ['job-failed', 'light', `/jobs/${shop.failed}`, 'complete'],
    ['job-running-dark', 'dark', `/jobs/${report}`, 'No sign of it: its worker is alive.'],
  ] as const;
  for (const [name, theme, path, ready] of shots) {
    const { page, context } = await visit(browser, { theme, height: 800 });
    // The pictures must not show the path of this checkout.
    await page.route(/\/v1\/(jobs\/[^/]+|settings)$/, async (route) => {
      const response = await route.fetch();
      await route.fulfill({
        response,
        body: (await response.text()).replaceAll(
          `${root}/test/support/fixtures/dashboard`,
          '/shop/jobs',
        ),
      });
    });
    await page.goto(`${shop.address}/ui${path}`);
    await page.getByText(ready).first().waitFor();
    await page.waitForLoadState('networkidle').catch(() => undefined);
    await page.screenshot({ path: `${images}${name}.png` });
    await context.close();
  }
  await browser.close();
} finally {
  await endAll();
  rmSync(folder, { recursive: true, force: true });
}
