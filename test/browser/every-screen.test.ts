import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BatchView } from '../../src/core/batch/batch.ts';
import type { ScheduleView } from '../../src/core/schedule/schedule.ts';
import type { WebhookView } from '../../src/core/webhook/webhook.ts';
import { post } from '../support/api.ts';
import { axeFindings, dashboardPages } from '../support/servers/dashboard-page.ts';

/** Each screen in light, in dark, and on a phone: readable for everybody, and no wider than it. */

const { shop, open } = dashboardPages();
const PHONE = { width: 390, height: 844 };

/** The parameters of the paths. */
const ids = { jobId: shop.failed, key: 'billing.send-invoice', batchId: '', webhookId: '' };
let scheduleId = '';

/** The address of a screen, if it is not its path. */
const ADDRESSES: Record<string, () => string> = {
  '/jobs/new': () => '/jobs/new?definition=billing.send-invoice',
  '/schedules/new': () => '/schedules/new?definition=billing.send-invoice',
  '/compare': () => `/compare?a=${shop.failed}&b=${shop.retrying}`,
  '/jobs/$jobId': () => `/jobs/${ids.jobId}`,
  '/batches/$batchId': () => `/batches/${ids.batchId}`,
  '/schedules/$scheduleId': () => `/schedules/${scheduleId}`,
  '/schedules/$scheduleId/edit': () => `/schedules/${scheduleId}/edit`,
  '/definitions/$key': () => `/definitions/${ids.key}`,
  '/webhooks/$webhookId': () => `/webhooks/${ids.webhookId}`,
};

/** Screens that need a server of their own, and the file that checks them. */
const ELSEWHERE: Record<string, string> = { '/deployments/$number': 'deployments.test.ts' };

const router = readFileSync(new URL('../../web/src/app/router.tsx', import.meta.url), 'utf8');
const paths = [...router.matchAll(/\bpath: '([^']+)'/g)].map(([, path = '']) => path);

beforeAll(async () => {
  if (shop.address === '') return;
  const page = { definitionKey: 'catalog.page', params: { page: 1, broken: true } };
  const batch = await post(`${shop.address}/v1/batches`, { name: 'all screens', jobs: [page] });
  ids.batchId = (batch.body as BatchView).id;
  const hook = { url: 'http://127.0.0.1:4999/hook', events: ['job.failed'] };
  const webhook = await post(`${shop.address}/v1/webhooks`, hook);
  ids.webhookId = (webhook.body as WebhookView).id;
  const schedule = await post(`${shop.address}/v1/schedules`, {
    definitionKey: 'storage.tidy',
    name: 'all-screens',
    cron: '0 4 * * *',
  });
  scheduleId = (schedule.body as ScheduleView).id;
});
afterAll(async () => {
  if (shop.address === '') return;
  for (const path of [`webhooks/${ids.webhookId}`, `schedules/${scheduleId}`])
    await fetch(`${shop.address}/v1/${path}`, { method: 'DELETE' });
});

describe('every screen of the router', () => {
  it('is in this list', () => {
    expect(paths.length).toBeGreaterThan(20);
    const named = new Set([...Object.keys(ADDRESSES), ...Object.keys(ELSEWHERE)]);
    expect([...named].filter((path) => !paths.includes(path))).toEqual([]);
    expect(paths.filter((path) => path.includes('$') && !named.has(path))).toEqual([]);
    for (const file of Object.values(ELSEWHERE)) {
      expect(readFileSync(new URL(file, import.meta.url), 'utf8')).toContain('axeFindings(page)');
    }
  });

  it.each(paths.filter((path) => !(path in ELSEWHERE)))('%s', async (path) => {
    const page = await open(ADDRESSES[path]?.() ?? path);
    const ready = async () => {
      await page.getByRole('heading', { level: 1 }).waitFor();
      const loading = async () => await page.getByText('Loading…').count();
      await expect.poll(loading, { timeout: 20_000 }).toBe(0);
    };
    await ready();
    expect(await page.getByText('not found').count()).toBe(0);
    expect(await axeFindings(page)).toEqual([]);
    await page.setViewportSize(PHONE);
    await ready();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);
    expect(await axeFindings(page)).toEqual([]);
  });
});
