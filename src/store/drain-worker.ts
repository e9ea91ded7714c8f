import { isWorkerId } from '../core/worker.ts';
import { type Db, statement } from './db.ts';
import { sendBeatHint } from './listen.ts';

/**
 * Asks a worker to drain: from now on the database lets it claim nothing, and the answer of its next
 * heartbeat tells it to finish what runs and leave. The hint sent here makes that heartbeat come at
 * once. Asking again changes nothing.
 */

const DRAIN = statement<{ asked: boolean }>(
  'drain_worker',
  `with asked as (
    update longshore.worker set draining_at = coalesce(draining_at, clock_timestamp())
    where shard = $1 and instance = $2 and dead_at is null
    returning 1
  )
  select exists (select 1 from asked) as asked
  from longshore.worker where shard = $1 and instance = $2`,
);

export async function drainWorker(
  db: Db,
  instance: string,
): Promise<'draining' | 'dead' | 'missing'> {
  if (!isWorkerId(instance)) return 'missing';
  const rows: { asked: boolean }[] = [];
  for (let shard = 0; shard < db.shards; shard += 1) {
    rows.push(...(await db.run(DRAIN, [shard, instance])));
  }
  if (rows.length === 0) return 'missing';
  // Dead in one shard is dead in all: it finds out with its next heartbeat.
  if (!rows.every(({ asked }) => asked)) return 'dead';
  await sendBeatHint(db, instance).catch(() => undefined);
  return 'draining';
}
