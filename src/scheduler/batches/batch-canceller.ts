import type { Log } from '../../runtime/log.ts';
import { ShardPollers } from '../../runtime/shard-pollers.ts';
import { cancelledBatches } from '../../store/batches/cancel-batch.ts';
import { cancelBatchJobs } from '../../store/change/cancel-children.ts';
import type { Db } from '../../store/connection/db.ts';
import { FIRST_ID } from '../../store/connection/id-range.ts';
import { ALL_SHARDS, type ShardOrder } from '../shard-order.ts';

const PAGE_SIZE = 100;

/**
 * Finishes what cancels of batches have left, because their process died: the jobs of a cancelled batch
 * are cancelled, too, and it ends with the last of them.
 */
export function batchCanceller(
  db: Db,
  restMs: number,
  log: Log,
  shardOrder: ShardOrder = ALL_SHARDS,
  firstMs?: number,
): ShardPollers {
  return new ShardPollers({
    name: 'batchCanceller',
    log,
    shards: db.shards,
    firstMs,
    tick: async (shard) => {
      await shardOrder.take(shard, async () => await finishCancels(db, shard, log));
      return restMs;
    },
  });
}

/** A batch with a job in a shard that does not answer does not hold back the others. */
export async function finishCancels(
  db: Db,
  shard: number,
  log: Log,
  isOver = () => false,
): Promise<void> {
  let afterId: string | undefined = FIRST_ID;
  while (afterId !== undefined && !isOver()) {
    const batches = await cancelledBatches(db, shard, afterId, PAGE_SIZE);
    for (const { id, tenant, by } of batches) {
      if (isOver()) return;
      const actor = by === null ? null : { name: by, address: null };
      await cancelBatchJobs(db, tenant, id, actor).catch((err: unknown) => {
        log.warn({ batchId: id, err }, 'cannot finish the cancel of a batch yet');
      });
    }
    afterId = batches.length < PAGE_SIZE ? undefined : batches.at(-1)?.id;
  }
}
