import { describe, expect, test } from 'vitest';
import { BEAT_TIMING, beatingWorkers, mustRenew } from './lease.ts';

describe('a worker with a long lease of 120 s', () => {
  test.each([
    ['has just renewed it', 120_000, false, false],
    ['has used less than a third of it', 81_000, false, false],
    ['has used a third of it', 79_999, false, true],
    ['has let it run out', -5, false, true],
    ['is suspected', 120_000, true, true],
    ['had it shortened to 30 s', 30_000, false, true],
  ])('%s', (_, leaseLeftMs, suspected, expected) => {
    expect(mustRenew({ leaseLeftMs, suspected }, 120_000)).toBe(expected);
  });
});

describe('a worker is beating', () => {
  const owners = new Map([
    ['a', 'w1'],
    ['b', null],
    ['c', 'w2'],
  ]);
  test.each([
    ['when one of its jobs has its beat', ['b', 'a'], true],
    ['not when none has', ['b'], false],
    ['not by the beat of another worker', ['c'], false],
    ['not when the job is not known', ['d'], false],
    ['not when it has no jobs', [], false],
  ])('%s', (_, jobIds, expected) => {
    expect(beatingWorkers([{ worker: 'w1', jobIds }], owners).has('w1')).toBe(expected);
  });
});

test('a beat that is late once is still believed', () => {
  expect(BEAT_TIMING.ttlMs).toBeGreaterThan(2 * BEAT_TIMING.everyMs);
});
