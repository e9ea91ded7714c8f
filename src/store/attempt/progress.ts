import { type Queryable, statement } from '../connection/db.ts';
import { inLockOrder } from '../connection/lock-order.ts';

export interface ProgressUpdate {
  id: string;
  claim: number;
  fraction: number;
  message: string | null;
}

/** Fenced like every write of a worker; a stale claim changes nothing. */
const PROGRESS = statement<{ id: string }>(
  'progress',
  `with u as materialized (
    select * from json_to_recordset($3::json) as u(id uuid, claim int, fraction real, message text)
  )
  update longshore.running r
  set progress_fraction = u.fraction, progress_message = u.message
  from u
  where r.shard = $1 and r.id = any ($2::uuid[]) and r.id = u.id and r.claim_no = u.claim
  returning r.id`,
);

export async function saveProgress(
  db: Queryable,
  shard: number,
  updates: readonly ProgressUpdate[],
): Promise<void> {
  if (updates.length === 0) return;
  const batch = inLockOrder(updates);
  const ids = batch.map((update) => update.id);
  await db.run(PROGRESS, [shard, ids, JSON.stringify(batch)]);
}
