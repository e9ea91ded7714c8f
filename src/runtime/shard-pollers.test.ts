import { expect, it } from 'vitest';
import { until } from '../../test/support/until.ts';
import { silentLog } from './log.ts';
import { eachShard, ShardPollers } from './shard-pollers.ts';

it('a shard that fails, and one that hangs, hold up no other', async () => {
  const rounds = [0, 0, 0];
  const hang = Promise.withResolvers<void>();
  const pollers = new ShardPollers({
    name: 'test',
    log: silentLog,
    shards: 3,
    tick: async (shard) => {
      rounds[shard] = (rounds[shard] ?? 0) + 1;
      if (shard === 0) throw new Error('this shard is broken');
      if (shard === 1) await hang.promise;
      return 0;
    },
  });
  await pollers.start();
  await until('the healthy one goes round', () => (rounds[2] ?? 0) > 20);
  expect(rounds[0]).toBeLessThan(5);
  expect(rounds[1]).toBe(1);
  hang.resolve();
  await pollers.stop();
});

it('eachShard does all of them before it throws', async () => {
  const done: number[] = [];
  const work = async (shard: number) => {
    if (shard === 0) throw new Error('this shard is broken');
    await Promise.resolve();
    done.push(shard);
  };
  await expect(eachShard([0, 1, 2], work)).rejects.toThrow('broken');
  expect(done).toEqual([1, 2]);
});
