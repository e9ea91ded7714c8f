import type { Clock } from '../runtime/clock.ts';
import { announcedMs } from '../store/connection/due-hint.ts';
import { nextCheckMs } from '../store/schedules/due-schedules.ts';
import { DuePoller } from './due-poller.ts';
import { type FireDeps, fireDue } from './fire-due.ts';
import type { SchedulerMembership } from './scheduler-membership.ts';

const BATCH = 100;

/** Fires the slots of schedules, and sleeps until the next one is due. */
export function ticker(
  deps: FireDeps,
  membership: Pick<SchedulerMembership, 'buckets'>,
  pollMs: number,
  clock: Clock,
): DuePoller {
  const { db, log } = deps;
  const sleepMs = Math.min(pollMs, announcedMs(db.shards));
  return new DuePoller(clock, {
    name: 'ticker',
    log,
    shards: db.shards,
    tick: async (shard, signal) => {
      const latestMs = clock.monotonicMs() + sleepMs;
      const { buckets } = membership;
      if (buckets.length === 0) return sleepMs;
      let dueAtMs = await nextDueAtMs(shard, buckets);
      // Most of the time nothing is due, and this one question is all.
      if (dueAtMs <= clock.monotonicMs()) {
        let fired = BATCH;
        while (fired === BATCH && !signal.aborted) {
          fired = await fireDue(deps, shard, buckets, BATCH);
        }
        dueAtMs = await nextDueAtMs(shard, buckets);
      }
      return Math.max(0, Math.min(latestMs, dueAtMs) - clock.monotonicMs());
    },
  });

  async function nextDueAtMs(shard: number, buckets: readonly number[]): Promise<number> {
    // Taken before the query, because the answer may take a while.
    const askedMs = clock.monotonicMs();
    return askedMs + ((await nextCheckMs(db, shard, buckets)) ?? Infinity);
  }
}
