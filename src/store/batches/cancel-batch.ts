import { BATCH_CANCELLED, BATCH_KEY, BATCH_OPEN } from '../../core/batch/batch.ts';
import { CHILDREN } from '../../core/dependency/children.ts';
import { type Actor, audit } from '../access/audit.ts';
import { lockForSignals } from '../claim/resume.ts';
import { inTransaction, type Queryable, statement } from '../connection/db.ts';
import { withPartitions } from '../connection/partitions.ts';
import { filterOnly, ONCE_PER_ROW } from '../connection/planner.ts';
import { sendWakeHint } from '../connection/wake.ts';
import { resolveNow, resolveSoon } from '../edges/resolve-ended.ts';

/**
 * The cancel of a batch has three parts: the batch accepts no more jobs and says that it is cancelled
 * (here), its jobs are cancelled (`store/change/cancel-children.ts`), and when the last of them has ended,
 * the resolver ends it (`end-cancelled-batch.ts`). Only then its callbacks hear of it. If the process dies
 * after the first part, a scheduler does the second (`scheduler/batches`).
 */

const FIND = statement<{ waitsFor: string | null }>(
  'find_batch_to_cancel',
  `select w.waits_for as "waitsFor" from (
     select * from longshore.waiting where shard = $1 and id = $2 limit 1
   ) w
   join lateral (
     select * from longshore.queue where shard = $1 and queue = w.queue limit 1
   ) q on q.tenant = $3 and q.key = '${BATCH_KEY}'`,
);

const BEGIN = statement<{ id: string }>(
  'begin_batch_cancel',
  `with begun as (
     update longshore.waiting w set waits_for = '${BATCH_CANCELLED}'
     where w.shard = $1 and w.id = $2
       and ${filterOnly(`w.waits_for in ('${BATCH_OPEN}', '${CHILDREN}')`)}
     returning w.id
   )
   update longshore.job j
   set policy = jsonb_set(j.policy, '{batch}', (j.policy -> 'batch') || jsonb_build_object(
     'cancelledBy', $3::text,
     'closedAt', coalesce(j.policy #>> '{batch,closedAt}',
       to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))))
   where j.shard = $1 and j.id = $2 and exists (select 1 from begun)
   returning j.id`,
);

/** Whether the batch waits for the end of its jobs as a cancelled one now. One that was cancelled before does. */
export async function beginBatchCancel(
  db: Queryable,
  tenant: string,
  shard: number,
  id: string,
  by: Actor | null,
): Promise<boolean> {
  const [known] = await db.run(FIND, [shard, id, tenant]);
  if (!known?.waitsFor) return false;
  return await withPartitions(db, async () =>
    inTransaction(db, async (tx) => {
      await lockForSignals(tx, shard, [id]);
      const [begun] = await tx.run(BEGIN, [shard, id, by?.name ?? null]);
      if (begun && by) {
        const [before, after] = [{ status: 'suspended' }, { status: 'cancelling' }];
        await audit(tx, by, { tenant, action: 'job.cancel', subject: id, before, after });
      }
      if (begun) return true;
      const [now] = await tx.run(FIND, [shard, id, tenant]);
      return now?.waitsFor === BATCH_CANCELLED;
    }),
  );
}

/** Ends a cancelled batch that has no open jobs, for which no end would move it on. */
export async function settleBatchCancel(db: Queryable, shard: number, id: string): Promise<void> {
  const levels = await withPartitions(db, async () =>
    inTransaction(db, async (tx) => resolveNow(tx, shard, [id])),
  );
  if (levels.length > 0) await sendWakeHint(db, levels).catch(() => undefined);
  await resolveSoon(db, shard);
}

export interface CancelledBatch {
  id: string;
  tenant: string;
  by: string | null;
}

const UNFINISHED = statement<CancelledBatch>(
  'find_cancelled_batches',
  `select w.id, q.tenant, j.policy #>> '{batch,cancelledBy}' as by
   from (
     select c.id, c.queue from (
       select id, queue from longshore.waiting
       where shard = $1 and waits_for collate "C" = '${BATCH_CANCELLED}' ${ONCE_PER_ROW}
     ) c
     where c.id > $3 order by c.id limit $2
   ) w
   cross join lateral (
     select tenant from longshore.queue where shard = $1 and queue = w.queue limit 1
   ) q
   cross join lateral (
     select policy from longshore.job where shard = $1 and id = w.id limit 1
   ) j
   order by w.id`,
);

/** The next cancelled batches after this id that wait for the end of their jobs. */
export async function cancelledBatches(
  db: Queryable,
  shard: number,
  afterId: string,
  limit: number,
): Promise<CancelledBatch[]> {
  return await db.run(UNFINISHED, [shard, limit, afterId]);
}
