import type { ClaimedJob } from '../../store/claim/claim.ts';
import type { Settlement } from '../../store/claim/settle.ts';
import type { WorkerStore } from './port.ts';

/** Counts of the jobs that went through a queue with a budget. */
export interface Counters {
  claimed: number;
  succeeded: number;
  retried: number;
  deadLettered: number;
  /** Claimed and not settled yet. */
  underWay: number;
}

export interface BudgetQueue {
  queue: WorkerStore;
  counters: Counters;
  /** Resolves when the counters include every claim in flight. */
  answered(): Promise<void>;
}

/**
 * Wraps a queue to hand out at most `max` jobs, and counts them. The worker does not notice: when
 * the budget is used up, the queue looks empty.
 */
export function budgetQueue(queue: WorkerStore, max: number): BudgetQueue {
  /** By shard: the claims in flight. */
  const held = new Map<number, Set<string>>();
  const heldIn = (shard: number): Set<string> => {
    const known = held.get(shard) ?? new Set();
    held.set(shard, known);
    return known;
  };
  const counters = {
    claimed: 0,
    succeeded: 0,
    retried: 0,
    deadLettered: 0,
    get underWay() {
      return [...held.values()].reduce((sum, { size }) => sum + size, 0);
    },
  };
  const claims = new Set<Promise<unknown>>();
  let promised = 0;

  /** Claims may run in parallel, so the share of each is reserved first. */
  const within = async <T>(
    shard: number,
    wanted: number,
    claim: (limit: number) => Promise<T>,
    jobsOf: (result: T) => readonly ClaimedJob[],
  ): Promise<T> => {
    const limit = Math.max(0, Math.min(wanted, max - counters.claimed - promised));
    promised += limit;
    const counted = claim(limit).then((result) => {
      counters.claimed += jobsOf(result).length;
      for (const job of jobsOf(result)) heldIn(shard).add(claimKey(job));
      return result;
    });
    claims.add(counted);
    try {
      return await counted;
    } finally {
      claims.delete(counted);
      promised -= limit;
    }
  };

  const written = (shard: number, settlement: Settlement) => {
    const { transition } = settlement;
    heldIn(shard).delete(claimKey(settlement));
    if (transition.to === 'succeeded') counters.succeeded += 1;
    if (transition.to === 'retrying') counters.retried += 1;
    if (transition.to === 'failed') counters.deadLettered += 1;
    // Claimed ahead and never started.
    if (!transition.attempted) counters.claimed -= 1;
  };

  return {
    counters,
    answered: async () => void (await Promise.allSettled(claims)),
    queue: {
      ...queue,
      claim: async (shard, limit, instance, levels) =>
        await within(
          shard,
          limit,
          async (room) => await queue.claim(shard, room, instance, levels),
          (jobs) => jobs,
        ),
      claimLimited: async (shard, limit, instance, levels) =>
        await within(
          shard,
          limit,
          async (room) => await queue.claimLimited(shard, room, instance, levels),
          ({ jobs }) => jobs,
        ),
      settleAndClaim: async (shard, batch) => {
        const result = await within(
          shard,
          batch.limit,
          async (limit) => await queue.settleAndClaim(shard, { ...batch, limit }),
          ({ jobs }) => jobs,
        );
        const { settled } = result;
        for (const one of batch.settlements) if (settled?.has(one.id) ?? true) written(shard, one);
        return result;
      },
      settle: async (shard, settlements) => {
        const settled = await queue.settle(shard, settlements);
        const ids = new Set(settled.map(({ id }) => id));
        for (const one of settlements) if (ids.has(one.id)) written(shard, one);
        return settled;
      },
      // A worker that lost its lease returns as a new one: no claim of the old one is in flight.
      register: async (shard, worker) => {
        await queue.register(shard, worker);
        heldIn(shard).clear();
      },
    },
  };
}

function claimKey({ id, claim }: { id: string; claim: number }): string {
  return `${id} ${claim}`;
}
