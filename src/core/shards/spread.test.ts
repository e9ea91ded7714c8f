import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  keyShard,
  newestSpread,
  REQUEST_AHEAD_MS,
  SPREAD_DELAY_MS,
  spreadAt,
  spreadShard,
} from './spread.ts';

const STEPS = [
  { spread: 4, fromMs: 1_000 },
  { spread: 2, fromMs: 2_000 },
];

test.each([
  [0, 1],
  [999, 1],
  [1_000, 4],
  [1_999, 4],
  [2_000, 2],
  [9_000, 2],
])('a request of time %i has the spread %i', (atMs, spread) => {
  expect(spreadAt(STEPS, atMs)).toBe(spread);
});

test('a job without a request id has the newest spread', () => {
  expect(newestSpread(STEPS)).toBe(2);
  expect(newestSpread([])).toBe(1);
});

test('a change holds only for requests that no process can have accepted before it', () => {
  expect(SPREAD_DELAY_MS).toBeGreaterThan(REQUEST_AHEAD_MS);
});

test('a spread uses the shards from the home shard on', () => {
  const all = fc.record({
    home: fc.nat(15),
    spread: fc.integer({ min: 1, max: 100 }),
    atMs: fc.nat(4_000_000_000_000),
  });
  fc.assert(
    fc.property(all, ({ home, spread, atMs }) => {
      const nth = (spreadShard(home, spread, atMs, 16) - home + 16) % 16;
      expect(nth).toBeLessThan(Math.min(spread, 16));
    }),
  );
});

test('moments take turns, so every shard gets its part, also from a caller with a period', () => {
  for (const periodMs of [16, 128, 1_000, 60_000]) {
    const counts = Array.from({ length: 8 }, () => 0);
    for (let n = 0; n < 8_000; n += 1) {
      const shard = spreadShard(3, 8, 1_790_000_000_000 + n * periodMs, 8);
      counts[shard] = (counts[shard] ?? 0) + 1;
    }
    expect(Math.min(...counts), `every ${periodMs} ms`).toBeGreaterThan(800);
    expect(Math.max(...counts), `every ${periodMs} ms`).toBeLessThan(1_200);
  }
});

test('jobs of one moment share a shard', () => {
  const atMs = 16 * 111_000_000_000;
  const shards = [0, 5, 15].map((ms) => spreadShard(0, 8, atMs + ms, 8));
  expect(new Set(shards).size).toBe(1);
});

// Worked out by another implementation of FNV-1a. These numbers may never change: the keys of existing installations live where they say.
test.each([
  ['concurrency', 'customer-17', 1, 0],
  ['concurrency', 'customer-17', 8, 3],
  ['concurrency', 'customer-17', 1_024, 747],
  ['unique', 'key:customer-17', 1_024, 112],
] as const)('the %s key %s, of %i shards, is in shard %i', (kind, key, shards, shard) => {
  expect(keyShard(kind, ['default', 'image.resize', key], shards)).toBe(shard);
});
