import { isWorkerId } from '../../core/queue/worker.ts';
import { DEFAULT_TENANT } from '../../core/access/scope.ts';
import { type Actor, audited } from '../access/audit.ts';
import { NOW_WITHIN } from '../connection/backend.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import { sendBeatHint } from '../connection/listen.ts';

/**
 * Asks a worker to drain. From now on the database refuses its claims, and the answer to its next
 * heartbeat tells it to finish its jobs and exit. A hint makes that heartbeat come at once. Asking
 * again changes nothing.
 */

const DRAIN = statement<{ asked: boolean }>(
  'drain_worker',
  `with asked as (
    update longshore.worker set draining_at = coalesce(draining_at, ${NOW_WITHIN})
    where shard = $1 and instance = $2 and dead_at is null
    returning 1
  )
  select exists (select 1 from asked) as asked
  from longshore.worker where shard = $1 and instance = $2`,
);

export async function drainWorker(
  db: Db,
  instance: string,
  by: Actor | null = null,
): Promise<'draining' | 'dead' | 'missing'> {
  if (!isWorkerId(instance)) return 'missing';
  const ask = async (tx: Queryable) => {
    const rows: { asked: boolean }[] = [];
    for (let shard = 0; shard < db.shards; shard += 1) {
      rows.push(...(await tx.run(DRAIN, [shard, instance])));
    }
    return rows;
  };
  const entry = { tenant: DEFAULT_TENANT, action: 'worker.drain', subject: instance };
  const rows = await audited(db, by, ask, (found) =>
    found.some(({ asked }) => asked) ? entry : null,
  );
  if (rows.length === 0) return 'missing';
  // A worker that lost its lease in one shard continues in the others.
  if (!rows.some(({ asked }) => asked)) return 'dead';
  await sendBeatHint(db, instance).catch(() => undefined);
  return 'draining';
}
