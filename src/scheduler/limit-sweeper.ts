import { type Clock, systemClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { ShardPollers } from '../runtime/shard-pollers.ts';
import type { Db } from '../store/connection/db.ts';
import {
  hasLimiters,
  NOTHING_TO_SWEEP,
  SWEEP_START,
  sweepLimiters,
} from '../store/limits/sweep-limiters.ts';
import { routeLeftJobs } from '../store/claim/route-jobs.ts';
import type { Waker } from '../store/connection/wake.ts';
import { ALL_SHARDS, type ShardOrder } from './shard-order.ts';

const SLICE = 1_000;
/** Rarely needed, so not at every poll. */
const ROUTE_POLLS = 10;

/**
 * Finds permits that are free while a job waits for one (`store/limits/sweep-limiters.ts`), and
 * queued jobs that have no version yet. Where a lookout wakes it (`lookout.ts`), it polls by itself
 * every `restMs` only.
 */
export function limitSweeper(
  db: Db,
  waker: Waker,
  pollMs: number,
  log: Log,
  shardOrder: ShardOrder = ALL_SHARDS,
  {
    restMs = pollMs,
    firstMs = 0,
    clock = systemClock,
  }: { restMs?: number; firstMs?: number; clock?: Clock } = {},
): ShardPollers {
  const startMs = clock.monotonicMs();
  const routedMs = new Map<number, number>();
  const cursors = new Map<number, typeof SWEEP_START>();
  return new ShardPollers({
    name: 'limitSweeper',
    log,
    shards: db.shards,
    firstMs,
    tick: async (shard) => {
      const cursor = cursors.get(shard) ?? SWEEP_START;
      const swept = await shardOrder.take(shard, async () =>
        (await hasLimiters(db, shard))
          ? await sweepLimiters(db, shard, cursor, SLICE)
          : NOTHING_TO_SWEEP,
      );
      if (!swept) return restMs;
      cursors.set(shard, swept.cursor);
      waker.wake(swept.levels);
      if (swept.more) return 0;
      const nowMs = clock.monotonicMs();
      if (nowMs - (routedMs.get(shard) ?? startMs) >= ROUTE_POLLS * pollMs) {
        routedMs.set(shard, nowMs);
        waker.wake(await routeLeftJobs(db, shard));
      }
      return restMs;
    },
  });
}
