import { expect, it } from 'vitest';
import { ShardShares } from './shard-shares.ts';

const LONG_MS = 600_000;

/** Calls that wait until they are released, with the number that is under way in each shard. */
function calls(shares: ShardShares) {
  const inside: Record<number, number> = {};
  const ends: Record<number, PromiseWithResolvers<void>[]> = {};
  const call = (shard: number) => {
    const end = Promise.withResolvers<void>();
    const done = shares.run(shard, async () => {
      inside[shard] = (inside[shard] ?? 0) + 1;
      (ends[shard] ??= []).push(end);
      await end.promise.finally(() => (inside[shard] = (inside[shard] ?? 1) - 1));
    });
    done.catch(() => undefined);
    return done;
  };
  return { inside, call, ends };
}

const soon = async () => await new Promise((resolve) => setImmediate(resolve));

it('one shard gets half of the connections', async () => {
  const { inside, call, ends } = calls(new ShardShares(6, LONG_MS, () => true));
  for (let n = 0; n < 5; n += 1) void call(1);
  void call(2);
  await soon();
  expect(inside).toEqual({ 1: 3, 2: 1 });
  ends[1]?.[0]?.resolve();
  await soon();
  expect(inside).toEqual({ 1: 3, 2: 1 });
});

it('a shard that failed gets one connection, all such shards half, until a call succeeds', async () => {
  const { inside, call, ends } = calls(new ShardShares(4, LONG_MS, () => true));
  for (const shard of [1, 2, 3]) {
    void call(shard);
    ends[shard]?.[0]?.reject(new Error('gone'));
    await soon();
  }
  for (const shard of [1, 1, 2, 3, 4, 4]) void call(shard);
  await soon();
  expect(inside).toEqual({ 1: 1, 2: 1, 3: 0, 4: 2 });
  ends[1]?.[1]?.resolve();
  await soon();
  expect(inside).toEqual({ 1: 1, 2: 1, 3: 1, 4: 2 });
});

it('an error of the statement itself says nothing about the shard', async () => {
  const { inside, call, ends } = calls(new ShardShares(4, LONG_MS, () => false));
  void call(1);
  ends[1]?.[0]?.reject(new Error('a bad row'));
  await soon();
  for (let n = 0; n < 2; n += 1) void call(1);
  await soon();
  expect(inside).toEqual({ 1: 2 });
});

it('nothing waits for longer than for a connection', async () => {
  const { call } = calls(new ShardShares(2, 1, () => true));
  void call(1);
  await expect(call(1)).rejects.toThrow('timeout exceeded: shard 1 does not answer');
});
