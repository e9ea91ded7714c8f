import { Poller, shardName } from '../../runtime/poller.ts';
import { Hold } from './hold.ts';
import type { WorkLoopOptions } from './loop.ts';
import type { ShardQueue } from './work-queue.ts';

/**
 * The loop of a worker for one shard: it polls, works, and backs off after a failure, independent
 * of other shards.
 */
export interface ShardLoop {
  queue: ShardQueue;
  poller: Poller;
  rounds: Set<Promise<void>>;
  /** Rounds with outcomes of limited jobs only (`ShardQueue.refills`). */
  limitedRounds: Set<Promise<void>>;
  /** Calls that wait for jobs (`ShardQueue.wait`), with the room of each. */
  waits: Map<Promise<void>, number>;
  /** Whether successes wait a moment for the next claim. */
  hold: Hold;
  /** Since when outcomes that are not plain were left for a later round; undefined: none is. */
  othersSinceMs: number | undefined;
  failure: unknown;
  /** The last tick did not get to its end: the next one asks the queue before it begins a round. */
  asksFirst: boolean;
}

/** One loop per shard. */
export function shardLoops(
  name: string,
  options: WorkLoopOptions,
  tick: (loop: ShardLoop) => Promise<number>,
): ShardLoop[] {
  const { queue, pollMs, log } = options;
  return Array.from({ length: queue.shards }, (_, shard) => {
    const loop: ShardLoop = {
      queue: queue.shardQueue(shard, options),
      poller: new Poller({
        name: shardName(name, shard, queue.shards),
        log,
        tick: async () => await tick(loop),
        // A failing database is polled as often as an idle one, so its return is noticed soon.
        maxRetryMs: Math.max(200, pollMs),
      }),
      rounds: new Set(),
      limitedRounds: new Set(),
      waits: new Map(),
      hold: new Hold(),
      othersSinceMs: undefined,
      failure: undefined,
      asksFirst: false,
    };
    return loop;
  });
}

/** A function that wakes all loops; at each call another one is the first. */
export function wakingInTurn(loops: readonly ShardLoop[]): () => void {
  const { length } = loops;
  let first = 0;
  return () => {
    first = (first + 1) % length;
    for (let step = 0; step < length; step += 1) loops[(first + step) % length]?.poller.wake();
  };
}
