import { describe, expect, test } from 'vitest';
import { parseCount, parseDays, parseSeconds, parseShare, parseSize } from './quantities.ts';

describe('quantities', () => {
  test.each([
    [parseCount, '1e9', 1e9],
    [parseCount, '10M', 1e7],
    [parseCount, '10 million', 1e7],
    [parseCount, '1,000,000', 1e6],
    [parseCount, '2_500', 2_500],
    [parseCount, '1.5k', 1_500],
    [parseSize, '2kB', 2_000],
    [parseSize, '2 KiB', 2_048],
    [parseSize, '500', 500],
    [parseSize, '1.5MB', 1_500_000],
    [parseSize, '0', 0],
    [parseShare, '5%', 0.05],
    [parseShare, '0.05', 0.05],
    [parseShare, '100 %', 1],
    [parseDays, '7d', 7],
    [parseDays, '2w', 14],
    [parseDays, '12h', 0.5],
    [parseDays, '30', 30],
    [parseSeconds, '2', 2],
    [parseSeconds, '300ms', 0.3],
    [parseSeconds, '1h', 3_600],
  ] as const)('%o reads %s as %d', (parse, text, value) => expect(parse(text)).toBeCloseTo(value));

  test.each([
    [parseCount, 'many', 'must be a number such as'],
    [parseCount, '-5', 'must be a number such as'],
    [parseCount, '', 'must be a number such as'],
    [parseCount, '10 milion', 'did you mean "million"?'],
    [parseSize, '2kg', 'did you mean "k'],
    [parseSize, '1,5', 'must be a number'],
    [parseShare, '5', 'a share from 0 to 1'],
    [parseShare, '101%', 'a share from 0 to 1'],
    [parseDays, '0', 'a duration such as 7d'],
    [parseDays, 'long', 'a duration such as 7d'],
    [parseSeconds, '2 parsecs', 'a number of seconds'],
  ] as const)('%o refuses %s and says what to write', (parse, text, message) => {
    expect(() => parse(text)).toThrow(message);
  });
});
