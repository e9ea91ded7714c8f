import { Poller, shardName } from '../../runtime/poller.ts';
import { Levels } from './levels.ts';
import type { WorkLoopOptions } from './loop.ts';

/**
 * The loop of a worker for one shard: it polls, works, and backs off after a failure, independent
 * of other shards.
 */
export interface ShardLoop {
  levels: Levels;
  poller: Poller;
  rounds: Set<Promise<void>>;
  failure: unknown;
}

/** One loop per shard. */
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
        // A failing database is polled as often as an idle one, so its return is noticed soon.
        maxRetryMs: Math.max(200, pollMs),
      }),
      rounds: new Set(),
      failure: undefined,
    };
    return loop;
  });
}
