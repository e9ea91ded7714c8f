import type { Log } from '../runtime/log.ts';
import { ShardPollers } from '../runtime/shard-pollers.ts';
import type { Db } from '../store/connection/db.ts';
import { findPendingWork } from '../store/workers/pending-work.ts';
import type { DuePoller } from './due-poller.ts';
import { QuietShards } from '../core/shards/quiet-shards.ts';
import { ALL_SHARDS, type ShardOrder } from './shard-order.ts';

/** The loops that it wakes. They also poll by themselves, but more rarely. */
export interface Woken {
  reaping: ShardPollers;
  sweeping: ShardPollers;
  counting: ShardPollers;
  promoting: DuePoller;
}

/**
 * Asks once in each interval what there is to do in a shard, and wakes the loops that do it. While
 * nothing happens, this is one statement instead of the statements of each loop. A shard where nothing
 * happens for longer is asked less often (`core/shards/quiet-shards.ts`), but always before a job is due and when a lease
 * would expire.
 */
export function lookout(
  db: Db,
  woken: Woken,
  everyMs: number,
  log: Log,
  shardOrder: ShardOrder = ALL_SHARDS,
  quiet = new QuietShards(db.shards, everyMs, everyMs),
): ShardPollers {
  const { reaping, sweeping, counting, promoting } = woken;
  return new ShardPollers({
    name: 'lookout',
    log,
    shards: db.shards,
    // After an outage jobs wait for this, so it is retried at the usual interval.
    maxRetryMs: Math.max(200, everyMs),
    tick: async (shard) => {
      const work = await shardOrder.take(shard, async () => await findPendingWork(db, shard));
      if (work === null) return everyMs;
      const dueInMs = work.ended ? 0 : (work.dueInMs ?? Infinity);
      // What is due later is found in time by a later round.
      const isDueSoon = dueInMs <= everyMs;
      const found = work.lost || work.counted || work.busy || isDueSoon;
      const pauseMs = quiet.looked(shard, found);
      if (work.lost) reaping.wake(shard);
      if (work.limiters) sweeping.wake(shard);
      if (work.counted) counting.wake(shard);
      if (isDueSoon) promoting.hint(dueInMs, shard);
      const nextMs = Math.min(dueInMs - everyMs, work.leaseEndsInMs ?? Infinity);
      return Math.max(everyMs, Math.min(pauseMs, nextMs));
    },
  });
}
