import { expect, it } from 'vitest';
import { edgeWords, heatOf, heatWords, rowWords, strengthOf } from './heat.ts';

const buckets = [
  { from: 0, to: 5 },
  { from: 5, to: 1_000 },
  { from: 1_000, to: null },
];

it('has a row for each bucket, if they are few', () => {
  const heat = heatOf({
    buckets,
    counts: [
      [1, 0, 2],
      [0, 7, 0],
    ],
  });
  expect(heat).toEqual({
    rows: buckets,
    counts: [
      [1, 0, 2],
      [0, 7, 0],
    ],
    most: 7,
  });
  expect(heat.rows.map(rowWords)).toEqual(['< 5 ms', '5 ms to 1 s', '> 1 s']);
  expect([0, 1, 2, 3].map((at) => edgeWords(heat.rows, at))).toEqual(['0', '5 ms', '1 s', '']);
  expect(heatWords(heat, 'last hour')).toBe(
    'Durations of 10 attempts, last hour: from 0 ms, more than 1 s',
  );
});

it('merges neighbours, if they are many', () => {
  const many = Array.from({ length: 50 }, (_, at) => ({ from: at, to: at + 1 }));
  const { rows, counts } = heatOf({ buckets: many, counts: [many.map(() => 1)] });
  expect(rows).toHaveLength(17);
  expect([rows[0], rows[16]]).toEqual([
    { from: 0, to: 3 },
    { from: 48, to: 50 },
  ]);
  expect([counts[0]?.[0], counts[0]?.[16]]).toEqual([3, 2]);
  expect(edgeWords(rows, 17)).toBe('50 ms');
});

it('says that there is nothing', () => {
  const heat = heatOf({ buckets: [], counts: [[], []] });
  expect(heat).toEqual({ rows: [], counts: [[], []], most: 0 });
  expect(heatWords(heat, 'last hour')).toBe('Durations, last hour: no attempts');
});

it('keeps a single attempt visible', () => {
  expect(strengthOf(0, 1_000)).toBe(0);
  expect(strengthOf(1, 1_000)).toBe(0.15);
  expect(strengthOf(1_000, 1_000)).toBeCloseTo(1);
  expect(strengthOf(1, 1)).toBe(1);
});
