import { expect, test } from 'vitest';
import { BackOff, quietLeaseStretch, quietMs } from './quiet.ts';

test.each([
  ['one shard is never left alone', 1_000, 1, 1_000],
  ['nor are two', 1_000, 2, 1_000],
  ['many are polled as often as two', 1_000, 64, 32_000],
  ['but each once a minute', 1_000, 1_024, 60_000],
  ['unless polls are rarer anyway', 120_000, 64, 120_000],
])('%s', (_, pollMs, shards, pauseMs) => expect(quietMs(pollMs, shards)).toBe(pauseMs));

test.each([
  ['with one shard', 0, 1, 1],
  ['in the shard where workers are counted', 0, 64, 1],
  ['in one of a few shards', 3, 4, 2],
  ['in one of many shards', 3, 64, 4],
])('a lease is this many times longer %s', (_, shard, shards, times) =>
  expect(quietLeaseStretch(shard, shards)).toBe(times),
);

test('a pause doubles while nothing is found', () => {
  const pauses = new BackOff(1, 5);
  expect([1, 2, 3, 4, 5].map(() => pauses.after(false))).toEqual([1, 2, 4, 5, 5]);
  expect(pauses.isQuiet).toBe(true);
  expect([pauses.reset(), pauses.reset()]).toEqual([true, false]);
  expect(pauses.isQuiet).toBe(false);
  expect([false, false, true, false].map((found) => pauses.after(found))).toEqual([1, 2, 1, 1]);
});

test('equal pauses are never quiet', () => {
  const pauses = new BackOff(1, 1);
  pauses.after(false);
  expect([pauses.isQuiet, pauses.after(false), pauses.reset()]).toEqual([false, 1, false]);
});
