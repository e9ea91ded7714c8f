import { expect, it, test } from 'vitest';
import { parseOptions, UsageError } from './options.ts';

it('reads what is given, and has defaults for the rest', () => {
  const { seed, minutes, profile } = parseOptions(['--seed', '7', '--minutes', '0.5'], 1);
  expect({ seed, minutes, profile }).toEqual({ seed: 7, minutes: 0.5, profile: 'smoke' });
  expect(parseOptions([], 42)).toMatchObject({ seed: 42, minutes: undefined });
});

test.each([
  [['--seed', 'x'], '--seed takes a whole number from 1'],
  [['--seed', '1.5'], '--seed takes a whole number from 1'],
  [['--minutes', '0'], '--minutes takes a number above 0'],
  [['--sed', '1'], '--sed'],
])('refuses %j', (argv, words) => {
  expect(() => parseOptions(argv, 1)).toThrow(UsageError);
  expect(() => parseOptions(argv, 1)).toThrow(words);
});
