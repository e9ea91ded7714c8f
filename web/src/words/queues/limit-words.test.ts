import { describe, expect, it, test } from 'vitest';
import { NO_LIMITS } from '../../../../src/core/queue/limits.ts';
import { readLimits, settingWords, typedLimits } from './limit-words.ts';

const nothing = {
  concurrencyLimit: '',
  concurrencyKeyLimit: '',
  rateLimit: '',
  keyRateLimit: '',
  spread: '',
};
const rate = { limit: 100, perMs: 60_000, burst: 10 };

describe('what is typed', () => {
  test.each([
    ['concurrencyLimit', '', null],
    ['concurrencyLimit', ' 7 ', 7],
    ['concurrencyKeyLimit', 'none', 0],
    ['rateLimit', '100/1m', { limit: 100, perMs: 60_000 }],
    ['rateLimit', '100/m', { limit: 100, perMs: 60_000 }],
    ['keyRateLimit', '5 per 2s burst 10', { limit: 5, perMs: 2_000, burst: 10 }],
    ['rateLimit', 'none', 0],
    ['spread', '', null],
    ['spread', ' 8 ', 8],
  ] as const)('%s %j is read', (field, text, value) => {
    const read = readLimits({ ...nothing, [field]: text });
    expect(read).toMatchObject({ change: { [field]: value } });
  });

  test.each([
    ['concurrencyLimit', '-1'],
    ['concurrencyKeyLimit', 'a few'],
    ['rateLimit', '100'],
    ['keyRateLimit', '5/1d'],
    ['spread', 'none'],
    ['spread', '0'],
  ] as const)('%s %j is refused', (field, text) => {
    expect(readLimits({ ...nothing, [field]: text })).toMatchObject({ field });
  });

  it('is what it was before', () => {
    const override = { concurrencyLimit: 0, rateLimit: rate, spread: 4 } as const;
    expect(readLimits(typedLimits(override))).toMatchObject({ change: override });
  });
});

test('without a spread, the jobs are in one shard', () => {
  expect(settingWords('spread', NO_LIMITS)).toBe('1');
  expect(settingWords('spread', { ...NO_LIMITS, spread: 8 })).toBe('8');
  expect(settingWords('concurrencyLimit', NO_LIMITS)).toBe('no limit');
});
