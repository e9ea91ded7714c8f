import { expect, it } from 'vitest';
import { ALL_SHARDS, ShardSemaphore, ownShards, sparing } from './shard-order.ts';

it('its own shards come each time, those of others once in a while', async () => {
  let nowMs = 0;
  const clock = { now: () => new Date(nowMs), monotonicMs: () => nowMs, random: () => 0 };
  const shardOrder = ownShards(
    { owns: (shard) => shard === 0 },
    clock,
    100,
    new ShardSemaphore(Infinity),
  );
  const look = async () => [
    await shardOrder.take(0, async () => true),
    await shardOrder.take(1, async () => true),
  ];
  expect(await look()).toEqual([true, null]);
  nowMs = 100;
  expect(await look()).toEqual([true, true]);
  expect(await look()).toEqual([true, null]);
});

it('a shard has a limit of concurrent loops, and does not block other shards', async () => {
  const semaphore = new ShardSemaphore(2);
  const hang = Promise.withResolvers<void>();
  const done: string[] = [];
  const first = semaphore.run(0, async () => await hang.promise);
  const second = semaphore.run(0, async () => await hang.promise);
  const third = semaphore.run(0, async () => void done.push('third'));
  await semaphore.run(1, async () => void done.push('other'));
  expect(done).toEqual(['other']);
  hang.resolve();
  await Promise.all([first, second, third]);
  expect(done).toEqual(['other', 'third']);
});

it('quiet shards come once in a while, others always', async () => {
  let nowMs = 0;
  const clock = { now: () => new Date(nowMs), monotonicMs: () => nowMs, random: () => 0 };
  const quiet = new Set([1]);
  const order = sparing(ALL_SHARDS, { isQuiet: (shard) => quiet.has(shard) }, clock, 100);
  const look = async () => [
    await order.take(0, async () => true),
    await order.take(1, async () => true),
  ];
  quiet.clear();
  expect(await look()).toEqual([true, true]);
  quiet.add(1);
  nowMs = 99;
  expect(await look()).toEqual([true, null]);
  nowMs = 100;
  expect(await look()).toEqual([true, true]);
  nowMs = 150;
  expect(await look()).toEqual([true, null]);
  quiet.clear();
  expect(await look()).toEqual([true, true]);
});
