import type { Log } from '../runtime/log.ts';
import { decideDue } from '../schedule/due.ts';
import { type Db, DatabaseUnavailable, type Queryable } from '../store/connection/db.ts';
import { enqueueWithin } from '../store/enqueue/enqueue.ts';
import type { EnqueuedJob, Entry } from '../store/enqueue/enqueue-entry.ts';
import {
  type Advance,
  advanceSchedules,
  type DueSchedule,
  lockDueSchedule,
  lockDueSchedules,
  postponeSchedule,
} from '../store/schedules/due-schedules.ts';
import type { Enqueuer } from '../enqueue/enqueuer.ts';
import { withPartitions } from '../store/connection/partitions.ts';
import { heldOf, nextOf, specOf } from '../store/schedules/schedule-row.ts';
import { slotEntry } from '../enqueue/slot-entry.ts';
import { type EndedSlot, insertSlots } from '../store/schedules/slots.ts';

/**
 * Fires due schedules. One transaction locks their rows, decides each slot with `decideDue`, and
 * writes the slots, their jobs and the progress of each schedule. So a crash or a concurrent
 * scheduler loses no slot, and no slot has two jobs.
 *
 * A batch that fails is repeated one by one. A schedule that fails alone is logged and postponed by
 * a minute, and does not stop the others.
 */
export interface FireDeps {
  db: Db;
  enqueuer: Enqueuer;
  log: Log;
}

/** The poll interval of a slot that waits for an earlier job to end. */
const HELD_POLL_MS = 1_000;
const POSTPONE_MS = 60_000;

/** Returns the number of schedules handled; the limit means there may be more. */
export async function fireDue(
  deps: FireDeps,
  shard: number,
  buckets: readonly number[],
  limit: number,
): Promise<number> {
  let ids: string[] = [];
  try {
    await fire(deps, shard, async (tx) => {
      const due = await lockDueSchedules(tx, shard, buckets, limit);
      ids = due.map(({ id }) => id);
      return due;
    });
  } catch (error) {
    if (error instanceof DatabaseUnavailable || ids.length === 0) throw error;
    for (const id of ids) await fireAlone(deps, shard, id);
  }
  return ids.length;
}

async function fireAlone(deps: FireDeps, shard: number, id: string): Promise<void> {
  try {
    await fire(deps, shard, async (tx) => await lockDueSchedule(tx, shard, id));
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error;
    await giveUpForNow(deps.db, deps.log, shard, id, error);
  }
}

async function fire(
  { db, enqueuer, log }: FireDeps,
  shard: number,
  lock: (tx: Queryable) => Promise<DueSchedule[]>,
): Promise<void> {
  const { entries, answers } = await withPartitions(db, async () =>
    db.transaction(async (tx) => {
      const plans: DuePlan[] = [];
      for (const due of await lock(tx)) {
        try {
          plans.push(await planDue(enqueuer, due));
        } catch (error) {
          await giveUpForNow(tx, log, shard, due.id, error);
        }
      }
      return await write(tx, shard, plans);
    }),
  );
  enqueuer.announce(entries, answers);
}

interface DuePlan {
  advance: Advance;
  slots: EndedSlot[];
  entries: Entry[];
}

async function planDue(enqueuer: Enqueuer, due: DueSchedule): Promise<DuePlan> {
  const nowMs = due.now.getTime();
  const progress = { next: nextOf(due), held: heldOf(due), active: due.active };
  const { decisions, held, next } = decideDue(specOf(due), progress, nowMs);
  const entries: Entry[] = [];
  const slots: EndedSlot[] = [];
  for (const decision of decisions) {
    const fires = decision.status === 'fired';
    const entry = fires ? await slotEntry(enqueuer, due, new Date(decision.slot.atMs)) : null;
    if (entry) entries.push(entry);
    slots.push({ ...decision, scheduleId: due.id, jobId: entry?.job.id ?? null });
  }
  const nextTimesMs = [...(next ? [next.atMs] : []), ...(held ? [nowMs + HELD_POLL_MS] : [])];
  const advance = {
    id: due.id,
    next,
    held,
    checkAtMs: nextTimesMs.length > 0 ? Math.min(...nextTimesMs) : null,
    jobIds: entries.map(({ job }) => job.id).reverse(),
    slots: slots.length,
  };
  return { advance, slots, entries };
}

async function write(
  tx: Queryable,
  shard: number,
  plans: readonly DuePlan[],
): Promise<{ entries: Entry[]; answers: EnqueuedJob[] }> {
  if (plans.length === 0) return { entries: [], answers: [] };
  const slots = plans.flatMap((one) => one.slots);
  const free = await insertSlots(tx, shard, slots);
  const entries = plans.flatMap((one) => one.entries).filter(({ job }) => free.has(job.id));
  const answers = entries.length > 0 ? await enqueueWithin(tx, entries) : [];
  await advanceSchedules(
    tx,
    shard,
    plans.map(({ advance }) => advance),
  );
  return { entries, answers };
}

async function giveUpForNow(
  db: Queryable,
  log: Log,
  shard: number,
  id: string,
  error: unknown,
): Promise<void> {
  const why = error instanceof Error ? error.message : String(error);
  log.error({ scheduleId: id, err: error }, 'cannot run a schedule; trying again in a minute');
  await postponeSchedule(db, shard, id, `could not run: ${why}`, POSTPONE_MS);
}
