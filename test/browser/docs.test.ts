import { basename } from 'node:path';
import { expect, it } from 'vitest';
import { DOCS_PAGES } from '../../src/http/docs/contents.ts';
import { axeFindings, phoneFindings, sharedPages } from '../support/servers/dashboard-page.ts';

/**
 * Each page of the docs in light, in dark, and on a phone: readable for everybody, and no wider than it.
 * They only read, so some are checked at the same time.
 */

const { withPage } = sharedPages();

const PAGES = ['', '/', '/search?q=retry', ...DOCS_PAGES.map((path) => `/${basename(path)}`)];

it.concurrent.each(PAGES)('/docs%s', async (path) => {
  await withPage(`/docs${path}`, async (page) => {
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect(await phoneFindings(page)).toEqual([]);
  });
});

it.concurrent('/docs/api', async () => {
  await withPage('/docs/api', async (page) => {
    await page.getByRole('heading', { name: 'Enqueue a job' }).first().waitFor();
    await page.getByRole('button', { name: 'Copy', exact: true }).first().waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect(await phoneFindings(page)).toEqual([]);
  });
});

it.concurrent('code of two systems is side by side where there is room', async () => {
  await withPage('/docs/from-bullmq', async (page) => {
    const places = async () => {
      const boxes = await page.locator('.pair').first().locator('pre').all();
      return await Promise.all(boxes.map(async (box) => await box.boundingBox()));
    };
    await page.setViewportSize({ width: 1_400, height: 900 });
    const [left, right] = await places();
    expect(left?.y).toBe(right?.y);
    expect(left?.x).toBeLessThan(right?.x ?? 0);
    await page.setViewportSize({ width: 700, height: 900 });
    const [upper, lower] = await places();
    expect(upper?.x).toBe(lower?.x);
    expect(upper?.y).toBeLessThan(lower?.y ?? 0);
  });
});
