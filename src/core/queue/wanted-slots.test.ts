import { describe, expect, test } from 'vitest';
import { busySlots, type Load, wholeSlots } from './wanted-slots.ts';

const MINUTE = 60_000;
const load = (over: Partial<Load> = {}): Load => ({
  arrivalsPerSecond: 0,
  runMs: 1_000,
  waiting: 0,
  running: 0,
  oldestAgeMs: null,
  concurrencyLimit: null,
  rateLimit: null,
  ...over,
});

describe('the slots that a load keeps busy', () => {
  test.each<[what: string, over: Partial<Load>, targetMs: number, busy: number]>([
    ['nothing to do', {}, MINUTE, 0],
    ['arrivals × run time', { arrivalsPerSecond: 4, runMs: 2_500 }, MINUTE, 10],
    ['a fraction', { arrivalsPerSecond: 0.5, runMs: 500 }, MINUTE, 0.25],
    ['a backlog, drained in the target time', { waiting: 600 }, MINUTE, 10],
    ['the same in half the time', { waiting: 600 }, MINUTE / 2, 20],
    ['both', { arrivalsPerSecond: 4, runMs: 2_000, waiting: 60 }, MINUTE, 10],
    [
      'a slot per job, if one takes longer than the target',
      { waiting: 3, runMs: 3_600_000 },
      MINUTE,
      3,
    ],
    ['a guess while no attempt has ended', { waiting: 120, runMs: null }, MINUTE, 2],
    [
      'a larger guess while jobs wait for long',
      { waiting: 4, runMs: null, oldestAgeMs: 30_000 },
      MINUTE,
      2,
    ],
    ['a running job holds its slot', { running: 7 }, MINUTE, 7],
    ['running jobs are part of the load', { running: 3, arrivalsPerSecond: 5 }, MINUTE, 5],
    [
      'a rate',
      { waiting: 6_000, runMs: 2_000, rateLimit: { limit: 1, perMs: 1_000, burst: 30 } },
      MINUTE,
      3,
    ],
    ['a limit', { waiting: 6_000, concurrencyLimit: 2 }, MINUTE, 2],
    ['more run than the limit lets', { running: 4, waiting: 60, concurrencyLimit: 2 }, MINUTE, 4],
  ])('%s', (_, over, targetMs, busy) => {
    expect(busySlots(load(over), targetMs)).toBeCloseTo(busy, 9);
  });
});

describe('the slots that loads want together', () => {
  test.each<[what: string, loads: Load[], slots: number]>([
    ['no definition', [], 0],
    ['idle definitions', [load(), load()], 0],
    ['one slot for a job that waits', [load({ waiting: 1, runMs: 1 })], 1],
    [
      'ten small loads share a slot',
      Array.from({ length: 10 }, () => load({ arrivalsPerSecond: 0.1 })),
      1,
    ],
    ['the next whole slot', [load({ arrivalsPerSecond: 1.01 })], 2],
    [
      'each running job, beside the load of others',
      [load({ running: 2 }), load({ arrivalsPerSecond: 2.5 })],
      5,
    ],
  ])('%s', (_, loads, slots) => {
    const busy = loads.reduce((sum, one) => sum + busySlots(one, MINUTE), 0);
    const isAnyWaiting = loads.some(({ waiting }) => waiting > 0);
    expect(wholeSlots(busy, isAnyWaiting)).toBe(slots);
  });
});
