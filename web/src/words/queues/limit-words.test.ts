import { describe, expect, it, test } from 'vitest';
import { readLimits, typedLimits } from './limit-words.ts';

const nothing = { concurrencyLimit: '', concurrencyKeyLimit: '', rateLimit: '', keyRateLimit: '' };
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
  ] as const)('%s %j is read', (field, text, value) => {
    const read = readLimits({ ...nothing, [field]: text });
    expect(read).toMatchObject({ change: { [field]: value } });
  });

  test.each([
    ['concurrencyLimit', '-1'],
    ['concurrencyKeyLimit', 'a few'],
    ['rateLimit', '100'],
    ['keyRateLimit', '5/1d'],
  ] as const)('%s %j is refused', (field, text) => {
    expect(readLimits({ ...nothing, [field]: text })).toMatchObject({ field });
  });

  it('is what it was before', () => {
    const override = { concurrencyLimit: 0, rateLimit: rate } as const;
    expect(readLimits(typedLimits(override))).toMatchObject({ change: override });
  });
});
