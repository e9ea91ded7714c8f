import type { Clock } from '../runtime/clock.ts';
import { SLEEP_MS_MAX } from '../store/connection/due-hint.ts';
import { nextLookMs } from '../store/schedules/due-schedules.ts';
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
  return new DuePoller(clock, {
    name: 'ticker',
    log,
    shards: db.shards,
    tick: async (shard, signal) => {
      const latestMs = clock.monotonicMs() + Math.min(pollMs, SLEEP_MS_MAX);
      const { buckets } = membership;
      if (buckets.length === 0) return Math.min(pollMs, SLEEP_MS_MAX);
      let fired = BATCH;
      while (fired === BATCH && !signal.aborted) {
        fired = await fireDue(deps, shard, buckets, BATCH);
      }
      const askedMs = clock.monotonicMs();
      const lookMs = await nextLookMs(db, shard, buckets);
      const nextAtMs = Math.min(latestMs, askedMs + (lookMs ?? Infinity));
      return Math.max(0, nextAtMs - clock.monotonicMs());
    },
  });
}
