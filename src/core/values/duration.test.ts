import { expect, it } from 'vitest';
import { age, duration, MINUTE_MS } from './duration.ts';

it.each([
  [-5, '0 ms', '0s'],
  [0, '0 ms', '0s'],
  [999, '999 ms', '0s'],
  [1_250, '1.2 s', '1s'],
  [59_960, '59.9 s', '59s'],
  [MINUTE_MS, '1m', '1m'],
  [4 * MINUTE_MS + 2_000, '4m02s', '4m'],
  [60 * MINUTE_MS, '1h', '1h'],
  [185 * MINUTE_MS, '3h05m', '3h'],
  [7 * 24 * 60 * MINUTE_MS, '7d', '7d'],
  [51 * 60 * MINUTE_MS, '2d3h', '2d'],
])('%d ms are %s, or %s in a table', (ms, long, short) => {
  expect(duration(ms)).toBe(long);
  expect(age(ms)).toBe(short);
});
