import type { Clock } from '../runtime/clock.ts';
import type { QuietShards } from '../core/shards/quiet-shards.ts';
import type { SchedulerMembership } from './scheduler-membership.ts';

/** Whether a loop should poll this shard in this round. */
export interface ShardOrder {
  /** Does the work if the shard is due in this round; null when it is not. */
  take<T>(shard: number, work: () => Promise<T>): Promise<T | null>;
}

export const ALL_SHARDS: ShardOrder = { take: async (_, work) => await work() };

/**
 * Own shards in each round, and all shards once in a while: the work of a killed owner is picked up
 * before its lease expires. The first scheduler does it, the others find nothing.
 */
export function ownShards(
  membership: Pick<SchedulerMembership, 'owns'>,
  clock: Clock,
  everyMs: number | ((shard: number) => number),
  semaphore: ShardSemaphore,
): ShardOrder {
  const sinceMs = new Map<number, number>();
  const startMs = clock.monotonicMs();
  const isOurs = (shard: number) => {
    const nowMs = clock.monotonicMs();
    const afterMs = typeof everyMs === 'number' ? everyMs : everyMs(shard);
    if (nowMs - (sinceMs.get(shard) ?? startMs) < afterMs) return membership.owns(shard);
    sinceMs.set(shard, nowMs);
    return true;
  };
  return {
    take: async (shard, work) => (isOurs(shard) ? await semaphore.run(shard, work) : null),
  };
}

/** Quiet shards come only once in this time; those where something happens, always. */
export function sparing(
  order: ShardOrder,
  quiet: Pick<QuietShards, 'isQuiet'>,
  clock: Clock,
  everyMs: number,
): ShardOrder {
  const sinceMs = new Map<number, number>();
  return {
    take: async (shard, work) => {
      const nowMs = clock.monotonicMs();
      if (quiet.isQuiet(shard) && nowMs - (sinceMs.get(shard) ?? nowMs) < everyMs) return null;
      return await order.take(shard, async () => {
        sinceMs.set(shard, nowMs);
        return await work();
      });
    },
  };
}

/**
 * Limits how many loops of a process work on one shard at the same time. A shard that does not
 * answer could otherwise hold every connection of the pool.
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
