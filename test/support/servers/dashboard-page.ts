import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject } from 'vitest';
import { openBrowser, visit, type Visitor } from './browser.ts';
import type { Shop } from './dashboard-server.ts';

const NO_SHOP: Shop = { address: '', failed: '', retrying: '', unhandled: '', hostile: '' };

/** A page of the dashboard for each test of a file. A browser that complains fails the test. */
export function dashboardPages() {
  const shop = inject('dashboard') ?? NO_SHOP;
  let browser: Browser;
  let visitor: Visitor;
  let forgiven = new Set<string>();

  beforeAll(async () => {
    if (shop !== NO_SHOP) browser = await openBrowser();
  });
  afterAll(async () => await browser?.close());
  beforeEach(async ({ skip }) => {
    skip(shop === NO_SHOP, 'no browser starts here');
    visitor = await visit(browser);
    forgiven = new Set();
  });
  afterEach(async () => {
    if (shop === NO_SHOP) return;
    const { complaints, context } = visitor;
    await context.close();
    expect(complaints.filter((text) => !forgiven.has(text))).toEqual([]);
  });
  return {
    shop,
    async open(path: string): Promise<Page> {
      await visitor.page.goto(`${shop.address}/ui${path}`);
      return visitor.page;
    },
    /** For tests in which something must go wrong. The same complaint may arrive later once more. */
    forgiveComplaints(): void {
      forgiven = new Set([...forgiven, ...visitor.complaints]);
    },
  };
}

/** Pages for tests that run at the same time. What a page complains about fails its test. */
export function sharedPages() {
  const shop = inject('dashboard') ?? NO_SHOP;
  let browser: Browser;
  beforeAll(async () => {
    if (shop !== NO_SHOP) browser = await openBrowser();
  });
  afterAll(async () => await browser?.close());
  beforeEach(({ skip }) => skip(shop === NO_SHOP, 'no browser starts here'));
  return {
    async withPage(path: string, work: (page: Page) => Promise<void>): Promise<void> {
      const { page, complaints, context } = await visit(browser);
      await page.goto(`${shop.address}${path}`);
      await work(page);
      await context.close();
      expect(complaints).toEqual([]);
    },
  };
}

export const PHONE = { width: 390, height: 844 };

/** What is wrong with the page on a phone: findings of axe, and whether it is wider than the screen. */
export async function phoneFindings(page: Page): Promise<string[]> {
  const before = page.viewportSize();
  await page.setViewportSize(PHONE);
  const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
  // Colours do not depend on the width, so the dark theme needs no second look here.
  const found = worded(await new AxeBuilder({ page }).withTags(RULES).analyze());
  if (before) await page.setViewportSize(before);
  return width > PHONE.width ? [...found, `the page is ${width} px wide`] : found;
}

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

type AxeResults = Awaited<ReturnType<AxeBuilder['analyze']>>;

/** The findings of axe, short enough for a failed test. In the dark theme only colours differ. */
export async function axeFindings(page: Page): Promise<string[]> {
  const light = await new AxeBuilder({ page }).withTags(RULES).analyze();
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await new AxeBuilder({ page }).withRules(['color-contrast']).analyze();
  await page.emulateMedia({ colorScheme: 'light' });
  return [...worded(light), ...worded(dark)];
}

function worded({ violations }: AxeResults): string[] {
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}
