import { describe, expect, it } from 'vitest';
import { mergeFound } from './walk-jobs.ts';

describe('mergeFound', () => {
  const whole = { ids: ['1', '3', '5'], reachedId: null };

  it('puts walks in one order, and meets no job twice', () => {
    const other = { ids: ['2', '3', '4'], reachedId: null };
    const merged = { ids: ['1', '2', '3', '4', '5'], reachedId: null };
    expect(mergeFound([whole, other], false, 10)).toEqual(merged);
  });

  it('says where to go on when there is more than asked for', () => {
    expect(mergeFound([whole], false, 2)).toEqual({ ids: ['1', '3'], reachedId: '3' });
    expect(mergeFound([whole], false, 3)).toEqual(whole);
  });

  it('leaves what lies behind the slowest walk for later', () => {
    const slow = { ids: ['2'], reachedId: '3' };
    expect(mergeFound([whole, slow], false, 10)).toEqual({ ids: ['1', '2', '3'], reachedId: '3' });
    const slowBackwards = { ids: ['4'], reachedId: '4' };
    const merged = { ids: ['5', '4'], reachedId: '4' };
    expect(mergeFound([whole, slowBackwards], true, 10)).toEqual(merged);
    const nothing = { ids: [], reachedId: '2' };
    expect(mergeFound([nothing, whole], false, 10)).toEqual({ ids: ['1'], reachedId: '2' });
  });
});
