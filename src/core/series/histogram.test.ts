import { expect, it } from 'vitest';
import {
  bucketOf,
  BUCKETS,
  COARSE_EDGES_MS,
  coarseCounts,
  EDGES_MS,
  emptyCounts,
  ERROR_MAX,
  quantileEstimateMs,
  quantileMs,
  quantilesMs,
  rangeOf,
  rangeText,
} from './histogram.ts';

const counts = (filled: Record<number, number>) =>
  emptyCounts().map((_, bucket) => filled[bucket] ?? 0);

it('has edges that grow', () => {
  expect(EDGES_MS).toEqual(EDGES_MS.toSorted((a, b) => a - b));
  expect(new Set(EDGES_MS).size).toBe(EDGES_MS.length);
  expect(EDGES_MS).toEqual(expect.arrayContaining([...COARSE_EDGES_MS]));
});

it('estimates every time between the first and the last edge well enough', () => {
  for (let ms = 5; ms < LAST_EDGE; ms *= 1.01) {
    const estimate = quantileEstimateMs(counts({ [bucketOf(ms)]: 7 }), 0.5) ?? 0;
    expect(Math.abs(estimate / ms - 1)).toBeLessThanOrEqual(ERROR_MAX);
  }
});

it('adds up what Prometheus gets', () => {
  const filled = counts({
    0: 1,
    [bucketOf(5)]: 2,
    [bucketOf(9)]: 3,
    [bucketOf(10)]: 4,
    [BUCKETS - 1]: 5,
  });
  const coarse = coarseCounts(filled);
  expect(coarse).toHaveLength(COARSE_EDGES_MS.length + 1);
  expect([coarse[0], coarse[1], coarse[2], coarse.at(-1)]).toEqual([1, 5, 4, 5]);
});

const LAST_EDGE = EDGES_MS.at(-1) ?? 0;

it.each([
  ['nothing', {}, 0.5, null],
  ['one bucket', { 0: 10 }, 0.5, { from: 0, to: 5 }],
  ['all of one bucket', { 5: 4 }, 1, { from: 10, to: 12.01 }],
  ['the second of two buckets', { 0: 1, 4: 1 }, 0.75, { from: 8.409, to: 10 }],
  ['the end of the first', { 0: 1, 4: 1 }, 0.5, { from: 0, to: 5 }],
  ['what is beyond the last edge', { [BUCKETS - 1]: 3 }, 0.99, { from: LAST_EDGE, to: null }],
])('finds the range of the quantile of %s', (_, filled, share, expected) => {
  expect(quantileMs(counts(filled), share)).toEqual(expected);
});

it.each([
  ['nothing', {}, 0.5, null],
  ['what is below the first edge', { 0: 3 }, 0.5, 2.5],
  ['the middle of a bucket', { 4: 10 }, 0.5, Math.sqrt(8.409 * 10)],
  ['the end of a bucket', { 4: 10 }, 1, Math.sqrt(8.409 * 10)],
  ['the second of two buckets', { 0: 1, 4: 1 }, 0.75, Math.sqrt(8.409 * 10)],
  ['what is beyond the last edge', { [BUCKETS - 1]: 3 }, 0.99, LAST_EDGE],
])('estimates the quantile of %s', (_, filled, share, expected) => {
  expect(quantileEstimateMs(counts(filled), share)).toBe(expected);
});

it('tells the usual three', () => {
  const range = { from: 5, to: 5.946 };
  expect(quantilesMs(counts({ 1: 100 }))).toEqual({ p50: range, p95: range, p99: range });
  expect(quantilesMs(emptyCounts())).toEqual({ p50: null, p95: null, p99: null });
});

it.each([
  [rangeOf(0), '< 5 ms'],
  [rangeOf(bucketOf(110)), '≈ 110 ms'],
  [rangeOf(bucketOf(1_600)), '≈ 1.6 s'],
  [rangeOf(bucketOf(66_000)), '≈ 1m05s'],
  [rangeOf(bucketOf(2_000_000)), '≈ 33m'],
  [{ from: LAST_EDGE, to: null }, '> 1d'],
])('%j is read as %s', (range, text) => expect(rangeText(range)).toBe(text));

it('a time on an edge belongs to the bucket above it', () => {
  expect([0, 4.9, 5, 5.9, 6, 10].map(bucketOf)).toEqual([0, 0, 1, 1, 2, 5]);
  expect(EDGES_MS.every((edge, at) => bucketOf(edge) === at + 1)).toBe(true);
  expect(bucketOf(LAST_EDGE - 1)).toBe(BUCKETS - 2);
  expect(bucketOf(LAST_EDGE)).toBe(BUCKETS - 1);
});
