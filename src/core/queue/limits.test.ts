import { describe, expect, it, test } from 'vitest';
import {
  changedOverride,
  effectiveLimits,
  isLimited,
  LimitError,
  type LimitsChange,
  type LimitsInput,
  limitsOf,
  type LimitsOverride,
  NO_LIMITS,
  requireDivisible,
  shareOf,
} from './limits.ts';

const RATE = { limit: 100, perMs: 60_000, burst: 10 };

test.each<[string, LimitsInput, object]>([
  ['nothing', {}, {}],
  ['counts', { concurrencyLimit: 3 }, { concurrencyLimit: 3 }],
  ['0 for no limit', { concurrencyLimit: 0, concurrencyKeyLimit: 0, rateLimit: 0 }, {}],
  ['a rate', { rateLimit: RATE }, { rateLimit: RATE }],
  [
    'a rate without a burst',
    { keyRateLimit: { limit: 5, perMs: 1_000 } },
    { keyRateLimit: { limit: 5, perMs: 1_000, burst: 5 } },
  ],
])('limits are read from %s', (_, input, expected) => {
  expect(limitsOf(input)).toEqual({ ...NO_LIMITS, ...expected });
});

test.each<[LimitsInput, RegExp]>([
  [{ concurrencyLimit: 1.5 }, /^concurrencyLimit must be a whole number from 0 to 1000000/],
  [{ concurrencyKeyLimit: -1 }, /^concurrencyKeyLimit must be a whole number from 0/],
  [{ concurrencyLimit: '3' as never }, /^concurrencyLimit must be/],
  [{ rateLimit: 5 as never }, /^rateLimit must be { limit, perMs, burst }, or 0/],
  [{ rateLimit: { limit: 0, perMs: 1 } }, /^rateLimit.limit must be a whole number from 1/],
  [{ rateLimit: { limit: 1, perMs: 0 } }, /^rateLimit.perMs must be/],
  [{ rateLimit: { limit: 1, perMs: 1, burst: 0 } }, /^rateLimit.burst must be/],
  [{ keyRateLimit: { limit: 1, perms: 1 } as never }, /perms.*perMs/],
])('refuses %j', (input, words) => {
  expect(() => limitsOf(input)).toThrow(LimitError);
  expect(() => limitsOf(input)).toThrow(words);
});

test.each<[LimitsOverride, LimitsChange, LimitsOverride]>([
  [{}, { concurrencyLimit: 3 }, { concurrencyLimit: 3 }],
  [{ concurrencyLimit: 3 }, { concurrencyLimit: 0 }, { concurrencyLimit: 0 }],
  [{ concurrencyLimit: 3 }, { concurrencyLimit: null }, {}],
  [{ concurrencyLimit: 3 }, { rateLimit: RATE }, { concurrencyLimit: 3, rateLimit: RATE }],
  [{ rateLimit: RATE }, { rateLimit: 0 }, { rateLimit: 0 }],
  [{ rateLimit: RATE }, {}, { rateLimit: RATE }],
])('what people said, %j, after the change %j', (override, change, expected) => {
  expect(changedOverride(override, change)).toEqual(expected);
});

it('names the nearest limit when one is unknown', () => {
  const change = { concurencyLimit: 1 } as LimitsChange;
  expect(() => changedOverride({}, change)).toThrow(/concurrencyLimit/);
});

describe('what holds', () => {
  const code = { ...NO_LIMITS, concurrencyLimit: 5, rateLimit: RATE };

  it.each<[LimitsOverride, object]>([
    [{}, {}],
    [{ concurrencyLimit: 9 }, { concurrencyLimit: 9 }],
    [{ concurrencyLimit: 0 }, { concurrencyLimit: null }],
    [{ spread: 4 }, { spread: 4 }],
    [
      { rateLimit: 0, concurrencyKeyLimit: 1 },
      { rateLimit: null, concurrencyKeyLimit: 1 },
    ],
  ])('with %j in place of the code', (override, expected) => {
    expect(effectiveLimits(code, override)).toEqual({ ...code, ...expected });
  });
});

it('is not limited by a spread', () => {
  expect(isLimited({ ...NO_LIMITS, spread: 4 })).toBe(false);
  expect(isLimited({ ...NO_LIMITS, keyRateLimit: RATE })).toBe(true);
});

describe('shards', () => {
  const limits = { ...NO_LIMITS, concurrencyLimit: 7, concurrencyKeyLimit: 1, rateLimit: RATE };

  it('divide what holds for all, and nothing is lost', () => {
    const shares = [0, 1, 2].map((shard) => shareOf(limits, shard, 3));
    expect(shares.map(({ concurrencyLimit }) => concurrencyLimit)).toEqual([3, 2, 2]);
    expect(shares.map(({ rateLimit }) => rateLimit)).toEqual([
      { limit: 34, perMs: 60_000, burst: 4 },
      { limit: 33, perMs: 60_000, burst: 3 },
      { limit: 33, perMs: 60_000, burst: 3 },
    ]);
    expect(shares.every(({ concurrencyKeyLimit }) => concurrencyKeyLimit === 1)).toBe(true);
    expect(shareOf(limits, 0, 1)).toEqual(limits);
  });

  it('refuse a limit that would leave one of them nothing', () => {
    expect(() => requireDivisible(limits, 7)).not.toThrow();
    expect(() => requireDivisible(limits, 8)).toThrow(/concurrencyLimit must be at least 8/);
    expect(() => requireDivisible({ ...NO_LIMITS, rateLimit: RATE }, 11)).toThrow(
      /rateLimit.burst/,
    );
    expect(() => requireDivisible(NO_LIMITS, 64)).not.toThrow();
  });
});
