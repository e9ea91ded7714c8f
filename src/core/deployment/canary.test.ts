import { describe, expect, it } from 'vitest';
import { canaryVerdict } from './canary.ts';

const counts = (failed: number, ended: number) => ({ failed, ended });

describe('a canary', () => {
  it.each([
    ['has too few attempts to tell', counts(9, 9), counts(0, 1_000)],
    ['fails as often as the current version', counts(10, 100), counts(100, 1_000)],
    ['fails a little more often, maybe by chance', counts(2, 10), counts(10, 100)],
    ['fails more often, but hardly', counts(300, 10_000), counts(0, 10_000)],
    ['has nothing to compare with', counts(5, 10), counts(0, 0)],
    ['never fails', counts(0, 50), counts(0, 0)],
  ])('goes on when it %s', (_, canary, current) => {
    expect(canaryVerdict(canary, current)).toBe(null);
  });

  it.each([
    [counts(8, 12), counts(4, 400), '8 of 12 attempts failed, of the current version 4 of 400'],
    [counts(10, 10), counts(30, 100), '10 of 10 attempts failed, of the current version 30 of 100'],
    [counts(6, 10), counts(0, 0), '6 of 10 attempts failed'],
  ])('stops: %j against %j', (canary, current, why) => {
    expect(canaryVerdict(canary, current)).toBe(why);
  });
});
