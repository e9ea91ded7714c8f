import { expect, test } from 'vitest';
import { piled, quantileWords, rateWords, throughputWords } from './throughput.ts';

const throughput = {
  from: '2030-01-01T12:00:00Z',
  stepMs: 60_000,
  succeeded: [5, 1_000],
  retried: [1, 0],
  failed: [0, 2],
  enqueued: [],
  started: [],
  cancelled: [0, 0],
};

test('outcomes are piled up, minute by minute', () => {
  const { times, heights } = piled(throughput);
  expect(times[1]).toBe((times[0] ?? 0) + 60);
  expect(heights).toEqual([
    [5, 1_000],
    [6, 1_000],
    [6, 1_002],
    [6, 1_002],
  ]);
});

test('and told in words', () => {
  expect(throughputWords(throughput)).toBe(
    'In the last 2 minutes: 1,005 succeeded, 1 retried, 2 failed, 0 cancelled',
  );
});

test.each([
  [null, '–'],
  [0, '0 %'],
  [0.004, '<1 %'],
  [0.256, '26 %'],
  [1, '100 %'],
])('a rate of %j is %s', (rate, words) => expect(rateWords(rate)).toBe(words));

test('usual and long times', () => {
  expect(quantileWords({ p50: 12, p95: 1_200, p99: 9_000 })).toBe('12 ms, 95 % within 1.2 s');
  expect(quantileWords({ p50: null, p95: null, p99: null })).toBe('–');
});
