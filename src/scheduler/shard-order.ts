import type { Clock } from '../runtime/clock.ts';
import type { SchedulerMembership } from './scheduler-membership.ts';

/** Whether a loop should look at this shard in this round. */
export interface ShardOrder {
  /** Does the work if it is this shard's turn here; null when it is not. */
  take<T>(shard: number, work: () => Promise<T>): Promise<T | null>;
}

export const ALL_SHARDS: ShardOrder = { take: async (_, work) => await work() };

/**
 * One's own shards each time, and all of them once in a while: what an owner leaves lying that was
 * killed is picked up before its lease is over. Whoever comes first does it, the others find nothing.
 */
export function ownShards(
  membership: Pick<SchedulerMembership, 'owns'>,
  clock: Clock,
  everyMs: number,
  semaphore: ShardSemaphore,
): ShardOrder {
  const sinceMs = new Map<number, number>();
  const startMs = clock.monotonicMs();
  const isOurs = (shard: number) => {
    const nowMs = clock.monotonicMs();
    if (nowMs - (sinceMs.get(shard) ?? startMs) < everyMs) return membership.owns(shard);
    sinceMs.set(shard, nowMs);
    return true;
  };
  return {
    take: async (shard, work) => (isOurs(shard) ? await semaphore.run(shard, work) : null),
  };
}

/**
 * Lets only so many loops of a process be at one shard at the same time. A shard that does not answer
 * could otherwise hold every connection of the pool, and the others would have none.
 */
export class ShardSemaphore {
  readonly #max: number;
  readonly #inside = new Map<number, number>();
  readonly #waiting = new Map<number, (() => void)[]>();

  constructor(max: number) {
    this.#max = max;
  }

  async run<T>(shard: number, work: () => Promise<T>): Promise<T> {
    while ((this.#inside.get(shard) ?? 0) >= this.#max) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.set(shard, [...(this.#waiting.get(shard) ?? []), resolve]);
      await promise;
    }
    this.#inside.set(shard, (this.#inside.get(shard) ?? 0) + 1);
    try {
      return await work();
    } finally {
      this.#inside.set(shard, (this.#inside.get(shard) ?? 1) - 1);
      this.#waiting.get(shard)?.shift()?.();
    }
  }
}
