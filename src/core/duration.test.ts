import { expect, it } from 'vitest';
import { duration } from './duration.ts';

const MINUTE_MS = 60_000;

it.each([
  [0, '0 ms'],
  [999, '999 ms'],
  [1_250, '1.2 s'],
  [59_960, '59.9 s'],
  [MINUTE_MS, '1m'],
  [4 * MINUTE_MS + 2_000, '4m02s'],
  [60 * MINUTE_MS, '1h'],
  [185 * MINUTE_MS, '3h05m'],
  [7 * 24 * 60 * MINUTE_MS, '7d'],
  [51 * 60 * MINUTE_MS, '2d3h'],
])('%d ms are %s', (ms, words) => {
  expect(duration(ms)).toBe(words);
});
