import { expect, it } from 'vitest';
import { BUCKETS, EDGES_MS, emptyCounts, quantileMs, quantilesMs, rangeText } from './histogram.ts';

const counts = (filled: Record<number, number>) =>
  emptyCounts().map((_, bucket) => filled[bucket] ?? 0);

it('has edges that grow', () => {
  expect(EDGES_MS).toEqual(EDGES_MS.toSorted((a, b) => a - b));
  expect(new Set(EDGES_MS).size).toBe(EDGES_MS.length);
});

const LAST_EDGE = EDGES_MS.at(-1) ?? 0;

it.each([
  ['nothing', {}, 0.5, null],
  ['one bucket', { 0: 10 }, 0.5, { from: 0, to: 5 }],
  ['all of one bucket', { 2: 4 }, 1, { from: 10, to: 25 }],
  ['the second of two buckets', { 0: 1, 4: 1 }, 0.75, { from: 50, to: 100 }],
  ['the end of the first', { 0: 1, 4: 1 }, 0.5, { from: 0, to: 5 }],
  ['what is beyond the last edge', { [BUCKETS - 1]: 3 }, 0.99, { from: LAST_EDGE, to: null }],
])('finds the range of the quantile of %s', (_, filled, share, expected) => {
  expect(quantileMs(counts(filled), share)).toEqual(expected);
});

it('tells the usual three', () => {
  const range = { from: 5, to: 10 };
  expect(quantilesMs(counts({ 1: 100 }))).toEqual({ p50: range, p95: range, p99: range });
  expect(quantilesMs(emptyCounts())).toEqual({ p50: null, p95: null, p99: null });
});

it.each([
  [{ from: 0, to: 5 }, '< 5 ms'],
  [{ from: 1_000, to: 2_500 }, '1–2.5 s'],
  [{ from: 500, to: 1_000 }, '500 ms–1 s'],
  [{ from: 60_000, to: 120_000 }, '1m–2m'],
  [{ from: LAST_EDGE, to: null }, '> 6h'],
])('%j is read as %s', (range, text) => expect(rangeText(range)).toBe(text));
