import { BATCH_CANCELLED, batchResult } from '../../core/batch/batch.ts';
import { endCancelled } from '../change/end-cancelled.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { filterOnly } from '../connection/planner.ts';
import { countBatch } from './read-batches.ts';

const END = statement<{ id: string }>(
  'end_cancelled_batch',
  `with gone as (
    delete from longshore.waiting w
    where w.shard = $1 and w.id = $2 and ${filterOnly(`w.waits_for = '${BATCH_CANCELLED}'`)}
    returning *
  ),
  ${endCancelled(
    "(select policy #>> '{batch,cancelledBy}' from longshore.job where shard = $1 and id = $2)",
    '$3::json',
  )}
  select id from ended`,
);

/**
 * Ends a cancelled batch whose jobs have all ended, with their counts, which its `onComplete` gets. Needs
 * the lock of its body.
 */
export async function endCancelledBatch(
  tx: Queryable,
  shard: number,
  { id, tenant }: { id: string; tenant: string },
): Promise<void> {
  const counts = JSON.stringify(batchResult(await countBatch(tx, id)));
  await tx.run(END, [shard, id, tx.vault.seal(tenant, counts)]);
}
