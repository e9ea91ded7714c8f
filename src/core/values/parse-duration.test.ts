import { describe, expect, it } from 'vitest';
import { parseDuration } from './parse-duration.ts';

describe('parseDuration', () => {
  it.each([
    ['250ms', 250],
    ['90s', 90_000],
    ['1.5 h', 5_400_000],
    ['2 days', 172_800_000],
    ['1h 30m', 5_400_000],
    ['1h30m', 5_400_000],
    [' 1 week ', 604_800_000],
    ['0s', 0],
  ])('%j is %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', '5', 'soon', '-1s', '1 fortnight', '2 days!', '1h and 30m', '1e3s'])(
    '%j is no duration',
    (text) => {
      expect(parseDuration(text)).toBeNull();
    },
  );
});
