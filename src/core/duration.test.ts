import { expect, test } from 'vitest';
import { age, duration } from './duration.ts';

test.each([
  [0, '0 ms', '0s'],
  [999, '999 ms', '0s'],
  [1_000, '1 s', '1s'],
  [59_999, '59.9 s', '59s'],
  [242_000, '4m02s', '4m'],
  [11_100_000, '3h05m', '3h'],
  [183_600_000, '2d3h', '2d'],
  [-5, '0 ms', '0s'],
])('%i ms is %s, or %s in a table', (ms, long, short) => {
  expect(duration(ms)).toBe(long);
  expect(age(ms)).toBe(short);
});
