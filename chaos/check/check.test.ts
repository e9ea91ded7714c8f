import { describe, expect, it, test } from 'vitest';
import { BROKEN_BATCHES } from './by-hand/broken-batches.ts';
import { BROKEN_DEPLOYMENTS } from './by-hand/broken-deployments.ts';
import { BROKEN_JOBS } from './by-hand/broken-jobs.ts';
import { BROKEN_LIVENESS } from './by-hand/broken-liveness.ts';
import { BROKEN_SAFETY } from './by-hand/broken-safety.ts';
import { BROKEN_SLOTS } from './by-hand/broken-slots.ts';
import { check } from './check.ts';
import { HistoryBuilder } from './by-hand/history-builder.ts';
import { INVARIANTS } from './invariants.ts';
import { SOUND } from './by-hand/sound.ts';

/** A checker that finds nothing proves nothing, so each promise is broken here by hand. */

const BROKEN = [
  ...BROKEN_SAFETY,
  ...BROKEN_JOBS,
  ...BROKEN_BATCHES,
  ...BROKEN_SLOTS,
  ...BROKEN_DEPLOYMENTS,
  ...BROKEN_LIVENESS,
];

function verdictOn(make: (h: HistoryBuilder) => void) {
  const builder = new HistoryBuilder();
  make(builder);
  return check(builder.build()).violations;
}

describe('the checker', () => {
  test.each(Object.entries(SOUND))('has nothing to say about %s', (_, make) => {
    expect(verdictOn(make)).toEqual([]);
  });

  test.each(BROKEN)('$breaks: $how', ({ breaks, make }) => {
    const violations = verdictOn(make);
    const found = [...new Set(violations.map(({ invariant }) => invariant))].sort();
    expect(found, JSON.stringify(violations, null, 1)).toEqual(breaks.toSorted());
  });

  it('has a broken history for every promise', () => {
    const tested = new Set(BROKEN.flatMap(({ breaks }) => breaks));
    expect(INVARIANTS.map(({ id }) => id).filter((id) => !tested.has(id))).toEqual([]);
  });
});
