import type { Settlement } from '../store/settle.ts';
import type { QueuePort } from './port.ts';

/** What became of the jobs that went through a queue with a budget. */
export interface Tally {
  claimed: number;
  succeeded: number;
  retried: number;
  deadLettered: number;
  /** Claimed, and not written back yet. */
  underWay: number;
}

export interface BudgetQueue {
  queue: QueuePort;
  tally: Tally;
  /** Resolves when the tally knows of every claim that was on its way: a claim may be made already. */
  answered(): Promise<void>;
}

/**
 * The same queue, which hands out no more than `max` jobs in all, and counts. The worker behind it
 * needs to know nothing of it: a claim that brings nothing looks like an empty queue.
 */
export function budgetQueue(queue: QueuePort, max: number): BudgetQueue {
  const tally = { claimed: 0, succeeded: 0, retried: 0, deadLettered: 0, underWay: 0 };
  const claims = new Set<Promise<unknown>>();
  let promised = 0;

  /** Claims may be under way side by side, so what each may take is set aside first. */
  const within = async <T>(
    wanted: number,
    claim: (limit: number) => Promise<T>,
    count: (result: T) => number,
  ): Promise<T> => {
    const limit = Math.max(0, Math.min(wanted, max - tally.claimed - promised));
    promised += limit;
    const counted = claim(limit).then((result) => {
      tally.claimed += count(result);
      tally.underWay += count(result);
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

  const written = ({ transition }: Settlement) => {
    tally.underWay -= 1;
    if (transition.to === 'succeeded') tally.succeeded += 1;
    if (transition.to === 'retrying') tally.retried += 1;
    if (transition.to === 'failed') tally.deadLettered += 1;
    // Claimed ahead and never begun: it was only looked at.
    if (!transition.attempted) tally.claimed -= 1;
  };

  return {
    tally,
    answered: async () => void (await Promise.allSettled(claims)),
    queue: {
      ...queue,
      claim: async (shard, limit, instance, lines) =>
        await within(
          limit,
          async (room) => await queue.claim(shard, room, instance, lines),
          (jobs) => jobs.length,
        ),
      claimGated: async (shard, limit, instance, lines) =>
        await within(
          limit,
          async (room) => await queue.claimGated(shard, room, instance, lines),
          ({ jobs }) => jobs.length,
        ),
      turn: async (shard, turn) => {
        const result = await within(
          turn.limit,
          async (limit) => await queue.turn(shard, { ...turn, limit }),
          ({ jobs }) => jobs.length,
        );
        const { settled } = result;
        turn.settlements.filter(({ id }) => settled?.has(id) ?? true).forEach(written);
        return result;
      },
      settle: async (shard, settlements) => {
        const settled = await queue.settle(shard, settlements);
        const ids = new Set(settled.map(({ id }) => id));
        settlements.filter(({ id }) => ids.has(id)).forEach(written);
        return settled;
      },
    },
  };
}
