import type { Settlement } from '../store/claim/settle.ts';
import type { WorkerStore } from '../worker/claim/port.ts';
import type { WorkerMetrics } from './worker-metrics.ts';

/** Wraps the queue of a worker to count the jobs per claim and the outcomes per write. */
export function meteredQueue(queue: WorkerStore, metrics: WorkerMetrics): WorkerStore {
  const wrote = (settlements: readonly Settlement[]) => {
    metrics.settled(settlements.length);
    for (const { usage } of settlements) metrics.ran(usage.peakRssBytes);
  };
  return {
    ...queue,
    claim: async (...args) => {
      const jobs = await queue.claim(...args);
      metrics.claimed(jobs.length);
      return jobs;
    },
    claimLimited: async (...args) => {
      const claimed = await queue.claimLimited(...args);
      metrics.claimed(claimed.jobs.length);
      return claimed;
    },
    settleAndClaim: async (shard, batch) => {
      const result = await queue.settleAndClaim(shard, batch);
      wrote(batch.settlements);
      metrics.claimed(result.jobs.length);
      return result;
    },
    settle: async (shard, settlements) => {
      const settled = await queue.settle(shard, settlements);
      wrote(settlements);
      return settled;
    },
  };
}
