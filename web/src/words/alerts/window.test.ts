import { expect, it } from 'vitest';
import {
  beginOfWindow,
  isWindow,
  partsOfWindow,
  partWords,
  WINDOWS,
  type WindowName,
} from './window.ts';

const NOW = new Date('2030-01-01T12:34:56Z');

it.each(Object.keys(WINDOWS) as WindowName[])('%s has parts without gaps, up to now', (name) => {
  const parts = partsOfWindow(name, NOW);
  expect(parts).toHaveLength(WINDOWS[name].parts);
  for (const [at, part] of parts.slice(1).entries()) expect(part.from).toBe(parts[at]?.to);
  expect(parts.at(-1)?.to).toBe(NOW.toISOString());
  expect(parts[0]?.from).toBe(beginOfWindow(name, NOW));
});

it.each([
  ['1h', 1],
  ['24h', 24],
  ['7d', 7 * 24],
  ['30d', 30 * 24],
] as const)('%s is that long, at whatever time one looks', (name, hours) => {
  for (const minute of [0, 1, 59, 179]) {
    const now = new Date(NOW.getTime() + minute * 60_000);
    expect(now.getTime() - Date.parse(beginOfWindow(name, now))).toBe(hours * 3_600_000);
  }
});

it('names both ends of a part by the clock, and where a longer one begins by day and clock', () => {
  const [part = { from: '', to: '' }] = partsOfWindow('1h', NOW);
  const words = (name: WindowName) => partWords(name, part).replaceAll('\u00a0', ' ');
  expect(words('1h')).toMatch(/^\d\d:\d\d – \d\d:\d\d$/);
  expect(words('7d')).toMatch(/^(01 Jan|31 Dec) \d\d:\d\d –$/);
});

it('knows its names only', () => {
  expect([isWindow('7d'), isWindow('constructor'), isWindow(undefined)]).toEqual([
    true,
    false,
    false,
  ]);
});
