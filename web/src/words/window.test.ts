import { expect, it } from 'vitest';
import { isWindow, partsOfWindow, partWords, WINDOWS, type WindowName } from './window.ts';

const NOW = new Date('2030-01-01T12:34:56Z');

it.each(Object.keys(WINDOWS) as WindowName[])('%s has parts without gaps, up to now', (name) => {
  const parts = partsOfWindow(name, NOW);
  expect(parts).toHaveLength(WINDOWS[name].parts);
  for (const [at, part] of parts.slice(1).entries()) expect(part.from).toBe(parts[at]?.to);
  const last = parts.at(-1);
  expect((last?.from ?? '') <= NOW.toISOString()).toBe(true);
  expect((last?.to ?? '') > NOW.toISOString()).toBe(true);
});

it('keeps still within a part', () => {
  const later = new Date(NOW.getTime() + 60_000);
  expect(partsOfWindow('24h', later)).toEqual(partsOfWindow('24h', NOW));
});

it('names parts by the clock, and longer ones by the day', () => {
  const [part = { from: '', to: '' }] = partsOfWindow('1h', NOW);
  expect(partWords('1h', part)).toMatch(/^\d\d:\d\d$/);
  expect(partWords('7d', part)).toMatch(/^01 Jan$|^31 Dec$/);
});

it('knows its names only', () => {
  expect([isWindow('7d'), isWindow('constructor'), isWindow(undefined)]).toEqual([
    true,
    false,
    false,
  ]);
});
