import { localOf } from '../schedule/zone.ts';
import { type Db, statement } from './db.ts';
import { enqueueWithin } from './enqueue.ts';
import type { Inbox } from './inbox.ts';
import { withSchedule } from './lock-schedule.ts';
import { withPartitions } from './partitions.ts';
import { databaseNow } from './schedules.ts';
import { slotEntry } from './slot-entry.ts';
import { insertSlots } from './slots.ts';

const FIRED = statement<{ id: string }>(
  'schedule_fired',
  `update longshore.schedule s
   set last_enqueued_at = clock_timestamp(), recent_jobs = ($3::uuid || s.recent_jobs)[1:20],
     new_slots = s.new_slots + 1
   where s.shard = $1 and s.id = $2 returning s.id`,
);

/**
 * Makes a job of a schedule now, whatever its policies say and also while it is paused. It counts
 * as an earlier job for the slots to come, and moves none of them.
 */
export async function triggerSchedule(
  db: Db,
  inbox: Inbox,
  tenant: string,
  id: string,
): Promise<string | null> {
  const made = await withPartitions(db, async () =>
    withSchedule(db, tenant, id, async (tx, shard, row) => {
      const at = await databaseNow(tx);
      const entry = await slotEntry(inbox, { ...row, jitter_ms: 0 }, at);
      const slot = { atMs: at.getTime(), localMs: localOf(row.timezone, at.getTime()) };
      const jobId = entry.job.id;
      const fired = { status: 'fired', reason: 'triggered', throughMs: null } as const;
      await insertSlots(tx, shard, [{ scheduleId: id, slot, jobId, ...fired }]);
      await tx.run(FIRED, [shard, id, jobId]);
      return { entry, answers: await enqueueWithin(tx, [entry]) };
    }),
  );
  if (!made) return null;
  inbox.announce([made.entry], made.answers);
  return made.entry.job.id;
}
