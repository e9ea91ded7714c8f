import type { Log } from '../runtime/log.ts';
import type { Service } from '../runtime/service.ts';
import { ShardPollers } from '../runtime/shard-pollers.ts';
import type { Db } from '../store/connection/db.ts';
import { SWEEP_START, sweepLimiters } from '../store/limits/sweep-limiters.ts';
import type { Waker } from '../store/connection/wake.ts';
import { ALL_SHARDS, type ShardOrder } from './shard-order.ts';

const SLICE = 1_000;

/** Finds permits that are free while a job waits for one (`store/limits/sweep-limiters.ts`). */
export function limitSweeper(
  db: Db,
  waker: Waker,
  pollMs: number,
  log: Log,
  shardOrder: ShardOrder = ALL_SHARDS,
): Service {
  const cursors = new Map<number, typeof SWEEP_START>();
  return new ShardPollers({
    name: 'limitSweeper',
    log,
    shards: db.shards,
    tick: async (shard) => {
      const cursor = cursors.get(shard) ?? SWEEP_START;
      const swept = await shardOrder.take(
        shard,
        async () => await sweepLimiters(db, shard, cursor, SLICE),
      );
      if (!swept) return pollMs;
      cursors.set(shard, swept.place);
      waker.wake(swept.levels);
      return swept.more ? 0 : pollMs;
    },
  });
}
