import { describe, expect, it } from 'vitest';
import type { Release } from './release.ts';
import { rollbackPlan } from './rollback.ts';

const release = (key: string, of: Partial<Release> & { at?: number }) => {
  const { at = 0, ...given } = of;
  const none = { tenant: 'default', previous: null, canary: null, canaryPercent: null };
  return { ...none, key, current: 1, ...given, changedAt: new Date(at) };
};

describe('a rollback', () => {
  it('moves the definitions of the last release back to what they had', () => {
    const releases = [
      release('a', { current: 5, previous: 4, at: 50 }),
      release('b', { current: 5, previous: 3, at: 50 }),
      release('c', { current: 4, previous: 3, at: 40 }),
    ];
    expect(rollbackPlan(releases, null)).toEqual({
      kind: 'move',
      to: new Map([
        [4, ['a']],
        [3, ['b']],
      ]),
    });
    expect(rollbackPlan(releases, ['c'])).toEqual({ kind: 'move', to: new Map([[3, ['c']]]) });
  });

  it('leaves a definition that is new where it is', () => {
    const releases = [
      release('a', { current: 5, previous: 4, at: 5 }),
      release('new', { current: 5, at: 5 }),
    ];
    expect(rollbackPlan(releases, null)).toEqual({ kind: 'move', to: new Map([[4, ['a']]]) });
  });

  it('ends a canary, if there is one', () => {
    const releases = [release('a', { current: 5, previous: 4, canary: 6, canaryPercent: 5 })];
    expect(rollbackPlan(releases, null)).toEqual({ kind: 'end-canary', numbers: [6] });
  });

  it.each([
    [[], null, 'nothing was deployed yet'],
    [[release('a', {})], null, 'a: there is no earlier deployment'],
    [[release('a', {})], ['b'], 'b was never deployed'],
  ])('is refused: %#', (releases, keys, why) => {
    expect(rollbackPlan(releases, keys)).toEqual({ kind: 'refuse', why });
  });
});
