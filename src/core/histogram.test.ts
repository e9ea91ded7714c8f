import { expect, it } from 'vitest';
import { BUCKETS, EDGES_MS, emptyCounts, quantileMs, quantilesMs } from './histogram.ts';

const counts = (filled: Record<number, number>) =>
  emptyCounts().map((_, bucket) => filled[bucket] ?? 0);

it('has edges that grow', () => {
  expect(EDGES_MS).toEqual(EDGES_MS.toSorted((a, b) => a - b));
  expect(new Set(EDGES_MS).size).toBe(EDGES_MS.length);
});

it.each([
  ['nothing', {}, 0.5, null],
  ['half of one bucket', { 0: 10 }, 0.5, 2.5],
  ['all of one bucket', { 2: 4 }, 1, 25],
  ['the second of two buckets', { 0: 1, 4: 1 }, 0.75, 75],
  ['the end of the first', { 0: 1, 4: 1 }, 0.5, 5],
  ['what is beyond the last edge', { [BUCKETS - 1]: 3 }, 0.99, EDGES_MS.at(-1)],
])('finds the quantile of %s', (_, filled, share, expected) => {
  expect(quantileMs(counts(filled), share)).toBe(expected);
});

it('tells the usual three', () => {
  expect(quantilesMs(counts({ 1: 100 }))).toEqual({ p50: 7.5, p95: 9.75, p99: 9.95 });
  expect(quantilesMs(emptyCounts())).toEqual({ p50: null, p95: null, p99: null });
});
