import type { Log } from '../../runtime/log.ts';
import { ShardPollers } from '../../runtime/shard-pollers.ts';
import { cancelledBatches } from '../../store/batches/cancel-batch.ts';
import { cancelBatchJobs } from '../../store/change/cancel-children.ts';
import type { Db } from '../../store/connection/db.ts';
import { ALL_SHARDS, type ShardOrder } from '../shard-order.ts';

const AT_ONCE = 100;

/**
 * Finishes what cancels of batches have left, because their process died: the jobs of a cancelled batch
 * are cancelled, too, and it ends with the last of them.
 */
export function batchCanceller(
  db: Db,
  restMs: number,
  log: Log,
  shardOrder: ShardOrder = ALL_SHARDS,
): ShardPollers {
  return new ShardPollers({
    name: 'batchCanceller',
    log,
    shards: db.shards,
    tick: async (shard) => {
      await shardOrder.take(shard, async () => await finishCancels(db, shard));
      return restMs;
    },
  });
}

export async function finishCancels(db: Db, shard: number): Promise<void> {
  for (const { id, tenant, by } of await cancelledBatches(db, shard, AT_ONCE)) {
    await cancelBatchJobs(db, tenant, id, by === null ? null : { name: by, address: null });
  }
}
