import { Poller, shardName } from '../../runtime/poller.ts';
import { Levels } from './levels.ts';
import type { WorkLoopOptions } from './loop.ts';

/** What a worker does for one shard: it looks, takes rounds, and rests after a failure, all by itself. */
export interface ShardLoop {
  levels: Levels;
  poller: Poller;
  rounds: Set<Promise<void>>;
  failure: unknown;
}

/** One for each shard. */
export function shardLoops(
  name: string,
  { queue, definitions, clock, pollMs, ageingMs, log }: WorkLoopOptions,
  tick: (loop: ShardLoop) => Promise<number>,
): ShardLoop[] {
  return Array.from({ length: queue.shards }, (_, shard) => {
    const loop: ShardLoop = {
      levels: new Levels(shard, queue, definitions, clock, pollMs, ageingMs),
      poller: new Poller({
        name: shardName(name, shard, queue.shards),
        log,
        tick: async () => await tick(loop),
        // A database that fails is asked as often as one that has no work, so its return is seen soon.
        maxRetryMs: Math.max(200, pollMs),
      }),
      rounds: new Set(),
      failure: undefined,
    };
    return loop;
  });
}
