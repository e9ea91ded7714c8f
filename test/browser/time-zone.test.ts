import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { dashboardPages } from '../support/servers/dashboard-page.ts';

/** A zone whose offset is that of no machine of the tests, with a part of an hour. */
const ZONE = 'Asia/Kabul';
const OFFSET_MS = (4 * 60 + 30) * 60_000;
const MINUTE_MS = 60_000;

const { open, shop } = dashboardPages();

async function choose(page: Page, zone: string) {
  await page.locator('.zone select').focus();
  await page.locator('.zone select').selectOption(zone);
}

/** Minutes since 1970 that the field shows, as the clock of `offsetMs` has them. */
const minutesOf = (value: string, offsetMs: number) => (Date.parse(`${value}Z`) - offsetMs) / 6e4;

describe('The time zone in the menu', () => {
  it('ends in an ellipsis where it is too long, and has its whole name as a tooltip', async () => {
    const page = await open('/');
    const field = page.locator('.zone select');
    expect(await field.getAttribute('title')).toMatch(/^Local time \(\S+\)$/);
    const style = "getComputedStyle(document.querySelector('.zone select')).textOverflow";
    expect(await page.evaluate(style)).toBe('ellipsis');
    await choose(page, 'America/Los_Angeles');
    expect(await field.getAttribute('title')).toBe('America/Los Angeles');
  });
});

describe('Fields with a date and time are in the chosen time zone', () => {
  it('of the custom range of charts', async () => {
    const page = await open('/?range=1h');
    await choose(page, ZONE);
    await page.getByRole('button', { name: 'Custom…' }).click();
    await page.locator('.custom-range').getByText(ZONE).waitFor();
    const to = await page.getByLabel('To', { exact: true }).inputValue();
    const shown = minutesOf(to, OFFSET_MS);
    expect(Math.abs(shown - Date.now() / MINUTE_MS)).toBeLessThan(30);

    const clock = (ms: number) => new Date(ms + OFFSET_MS).toISOString().slice(0, 16);
    const begin = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - 120 * MINUTE_MS;
    await page.getByLabel('From', { exact: true }).fill(clock(begin));
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.waitForURL(/from=.*to=/);
    const { searchParams } = new URL(page.url());
    expect(searchParams.get('from')).toBe(new Date(begin).toISOString());
    expect(Date.parse(searchParams.get('to') ?? '') / MINUTE_MS).toBe(shown);

    await choose(page, 'UTC');
    await page.getByRole('button', { name: /^\d\d \w+, \d\d:\d\d to/ }).click();
    const from = await page.getByLabel('From', { exact: true }).inputValue();
    expect(from).toBe(new Date(begin).toISOString().slice(0, 16));
  });

  it('of a schedule', async () => {
    const page = await open('/schedules/new?definition=image.resize');
    await choose(page, ZONE);
    expect(await page.getByRole('main').getByLabel('Time zone').inputValue()).toBe(ZONE);
    await page.getByLabel('Name').fill('zoned');
    await page.getByRole('textbox', { name: 'Params' }).fill('{"url":"zone.png","width":5}');
    expect(await page.getByText(`In ${ZONE}; may be empty.`).count()).toBe(2);
    await page.getByLabel('No run before').fill('2040-01-01T00:15');
    await page.getByRole('button', { name: 'Create schedule' }).click();
    await page.getByText('zoned created.').waitFor();
    const id = page.url().split('/').at(-1);
    const stored = await fetch(`${shop.address}/v1/schedules/${id}`);
    expect(await stored.json()).toMatchObject({ startAt: '2039-12-31T19:45:00.000Z' });
    await page.goto(`${page.url()}/edit`);
    expect(await page.getByLabel('No run before').inputValue()).toBe('2040-01-01T00:15');
    await choose(page, 'UTC');
    expect(await page.getByLabel('No run before').inputValue()).toBe('2039-12-31T19:45');
    await fetch(`${shop.address}/v1/schedules/${id}`, { method: 'DELETE' });
  });
});
