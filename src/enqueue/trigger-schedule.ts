import { localOf } from '../schedule/zone.ts';
import { type Actor, audit } from '../store/access/audit.ts';
import type { Db, Queryable } from '../store/connection/db.ts';
import { enqueueWithin } from '../store/enqueue/enqueue.ts';
import type { EnqueuedJob, Entry } from '../store/enqueue/enqueue-entry.ts';
import type { Enqueuer } from './enqueuer.ts';
import { readScheduleRow, withSchedule } from '../store/schedules/lock-schedule.ts';
import { withPartitions } from '../store/connection/partitions.ts';
import type { ScheduleRow } from '../store/schedules/schedule-row.ts';
import { databaseNow } from '../store/schedules/schedules.ts';
import { slotEntry } from './slot-entry.ts';
import { insertSlots, noteTriggered } from '../store/schedules/slots.ts';

const TRIES = 5;

/**
 * Makes a job of a schedule now, whatever its policies say and also while it is paused. It counts
 * as an earlier job for the slots to come, and moves none of them.
 *
 * The job is prepared before the row is locked: preparing asks the database too, and a transaction
 * that waits for a second connection can wait for ever when many do. If the schedule was changed
 * meanwhile, the job is prepared anew.
 */
export async function triggerSchedule(
  db: Db,
  enqueuer: Enqueuer,
  tenant: string,
  id: string,
  by: Actor | null = null,
): Promise<string | null> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const seen = await readScheduleRow(db, tenant, id);
    if (!seen) return null;
    const prepared = await slotEntry(enqueuer, { ...seen, jitter_ms: 0 }, seen.updated_at);
    const made = await withPartitions(db, async () =>
      withSchedule(db, tenant, id, async (tx, shard, row) => {
        if (row.updated_at.getTime() !== seen.updated_at.getTime()) return null;
        const after = { jobId: prepared.job.id };
        if (by) await audit(tx, by, { tenant, action: 'schedule.trigger', subject: id, after });
        return await store(tx, shard, row, prepared);
      }),
    );
    if (!made) continue;
    enqueuer.announce([made.entry], made.answers);
    return made.entry.job.id;
  }
  throw new Error(`schedule ${id} kept changing`);
}

async function store(
  tx: Queryable,
  shard: number,
  { id, timezone }: ScheduleRow,
  prepared: Entry,
): Promise<{ entry: Entry; answers: EnqueuedJob[] }> {
  const jobId = prepared.job.id;
  const fired = { scheduleId: id, jobId, status: 'fired', reason: 'triggered' } as const;
  let atMs = (await databaseNow(tx)).getTime();
  for (;;) {
    const slot = { atMs, localMs: localOf(timezone, atMs) };
    if ((await insertSlots(tx, shard, [{ ...fired, slot, throughMs: null }])).has(jobId)) break;
    // Another caller triggered it in the same millisecond.
    atMs += 1;
  }
  const entry = { ...prepared, schedule: { id, slotAt: new Date(atMs) } };
  await noteTriggered(tx, shard, id, jobId);
  return { entry, answers: await enqueueWithin(tx, [entry]) };
}
