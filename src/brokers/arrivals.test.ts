import { expect, test } from 'vitest';
import { Arrivals } from './arrivals.ts';

const forEver = new AbortController().signal;

test('gives what has arrived, in order, and waits for the first', async () => {
  const arrivals = new Arrivals<number>();
  const first = arrivals.take(2, forEver);
  for (const item of [1, 2, 3]) arrivals.add(item);
  expect(await first).toEqual([1, 2]);
  expect(await arrivals.take(2, forEver)).toEqual([3]);
});

test('gives nothing when it is over', async () => {
  const arrivals = new Arrivals<number>();
  const waiting = arrivals.take(1, forEver);
  arrivals.end();
  expect(await waiting).toEqual([]);
  arrivals.add(1);
  expect(await arrivals.take(1, forEver)).toEqual([]);
});

test('gives nothing when its reader stops', async () => {
  const arrivals = new Arrivals<number>();
  const stop = new AbortController();
  const waiting = arrivals.take(1, stop.signal);
  stop.abort();
  expect(await waiting).toEqual([]);
  arrivals.add(1);
  expect(await arrivals.take(1, stop.signal)).toEqual([]);
});
