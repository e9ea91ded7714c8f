import { expect, test } from 'vitest';
import { quantileWords, quietWords, rateWords } from './throughput.ts';

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

test.each([
  [null, '–'],
  [0, '0 %'],
  [0.004, '<1 %'],
  [0.256, '26 %'],
  [1, '100 %'],
])('a rate of %j is %s', (rate, words) => expect(rateWords(rate)).toBe(words));

test('usual and long times', () => {
  const p95 = { from: 1_000, to: 2_500 };
  const times = { p50: { from: 0, to: 5 }, p95, p99: p95 };
  expect(quantileWords(times)).toBe('< 5 ms / ≈ 1.6 s');
  expect(quantileWords({ p50: null, p95: null, p99: null })).toBe('–');
});

test('quiet does not contradict the chart', () => {
  expect(quietWords(throughput)).toMatch(/2 jobs failed in the last hour and were retried/);
  const none = { ...throughput, failed: [0, 0] };
  expect(quietWords(none)).not.toMatch(/last hour/);
});
