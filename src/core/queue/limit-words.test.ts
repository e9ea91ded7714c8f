import { expect, test } from 'vitest';
import { limitsLine, limitWords } from './limit-words.ts';
import { NO_LIMITS } from './limits.ts';

const rate = { limit: 100, perMs: 60_000, burst: 10 };

test.each([
  [null, 'no limit'],
  [10, '10'],
  [rate, '100 in 1m, 10 at once'],
  [{ limit: 5, perMs: 1_000, burst: 5 }, '5 in 1 s'],
])('%j is said as %j', (limit, words) => expect(limitWords(limit)).toBe(words));

test('all of them in one line', () => {
  expect(limitsLine(NO_LIMITS)).toBe('');
  const limits = { ...NO_LIMITS, concurrencyLimit: 4, concurrencyKeyLimit: 1, rateLimit: rate };
  expect(limitsLine(limits)).toBe('4 at a time, 1 per key, 100 in 1m, 10 at once');
});
