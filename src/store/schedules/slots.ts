import type { SlotView } from '../../core/schedule/schedule.ts';
import type { SlotDecision } from '../../core/schedule/slot-plan.ts';
import { shardOfScheduleId } from '../../core/schedule/schedule-id.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { atCtids, filterOnly } from '../connection/planner.ts';
import { SLOT_COLUMNS, type SlotRow, viewOfSlot } from './schedule-row.ts';

/** The decision about a slot, with its job. */
export interface EndedSlot extends SlotDecision {
  scheduleId: string;
  jobId: string | null;
}

const INSERT = statement<{ job_id: string | null }>(
  'insert_slots',
  `insert into longshore.slot
     (shard, schedule_id, slot_at, local, status, reason, through, job_id)
   select $1, i.schedule_id, i.slot_at, i.local at time zone 'UTC', i.status, i.reason, i.through,
     i.job_id
   from jsonb_to_recordset($2::jsonb) as i(schedule_id uuid, slot_at timestamptz,
     local timestamptz, status text, reason text, through timestamptz, job_id uuid)
   on conflict do nothing
   returning job_id`,
);

/**
 * Stores decisions about slots. Returns the jobs whose slot was still free: only these may be
 * stored, in the same transaction, so that a slot never has two jobs and a job always has its
 * slot.
 */
export async function insertSlots(
  tx: Queryable,
  shard: number,
  slots: readonly EndedSlot[],
): Promise<Set<string>> {
  if (slots.length === 0) return new Set();
  const rows = slots.map(({ scheduleId, slot, status, reason, throughMs, jobId }) => ({
    schedule_id: scheduleId,
    slot_at: new Date(slot.atMs),
    local: new Date(slot.localMs),
    status,
    reason,
    through: throughMs === null ? null : new Date(throughMs),
    job_id: jobId,
  }));
  const inserted = await tx.run(INSERT, [shard, JSON.stringify(rows)]);
  return new Set(inserted.flatMap(({ job_id: jobId }) => jobId ?? []));
}

const LIST = statement<SlotRow>(
  'list_slots',
  `select ${SLOT_COLUMNS} from (
     select * from longshore.slot
     where shard = $1 and schedule_id = $2 and $6 = (
         select s.tenant from longshore.schedule s where s.shard = $1 and s.id = $2)
       and ($3::timestamptz is null
         or (slot_at, local) < ($3::timestamptz, $4::timestamptz at time zone 'UTC'))
     order by slot_at desc, local desc limit $5
   ) t
   order by t.slot_at desc, t.local desc`,
);

/** The end of a page of slots. */
export interface SlotCursor {
  slot: string;
  local: string;
}

/** The newest first. */
export async function listSlots(
  db: Queryable,
  tenant: string,
  scheduleId: string,
  after: SlotCursor | null,
  limit: number,
): Promise<{ slots: SlotView[]; last: SlotCursor | null }> {
  const [at, local] = after ? [after.slot, `${after.local}Z`] : [null, null];
  const shard = shardOfScheduleId(scheduleId);
  const rows = await db.run(LIST, [shard, scheduleId, at, local, limit + 1, tenant]);
  const slots = rows.slice(0, limit).map(viewOfSlot);
  const more = rows.length > limit;
  return { slots, last: more ? (slots.at(-1) ?? null) : null };
}

const PRUNE = statement<{ schedules: number; removed: number }>(
  'prune_slots',
  `with crowded as materialized (
     select s.id from longshore.schedule s
     where s.shard = $1 and s.new_slots >= 500
     limit $3 for update skip locked
   ),
   calmed as (
     update longshore.schedule set new_slots = 0
     where shard = $1 and id = any (array(select id from crowded))
   ),
   old as (
     delete from longshore.slot where ${atCtids(`
       select t.ctid from crowded c cross join lateral (
         select ctid from longshore.slot
         where shard = $1 and schedule_id = c.id
         order by slot_at desc, local desc offset $2
       ) t`)} and ${filterOnly('shard = $1')}
     returning 1
   )
   select (select count(*)::int from crowded) as schedules,
     (select count(*)::int from old) as removed`,
);

/** Keeps the newest slots of schedules that got many; returns the number of schedules pruned. */
export async function pruneSlots(
  db: Queryable,
  shard: number,
  keep: number,
  schedulesMax: number,
): Promise<{ schedules: number; removed: number }> {
  const [row] = await db.run(PRUNE, [shard, keep, schedulesMax]);
  return row ?? { schedules: 0, removed: 0 };
}

const FIRED = statement<{ id: string }>(
  'schedule_fired',
  `update longshore.schedule s
   set last_enqueued_at = clock_timestamp(), recent_jobs = ($3::uuid || s.recent_jobs)[1:20],
     new_slots = s.new_slots + 1
   where s.shard = $1 and s.id = $2 returning s.id`,
);

/** A job that was started by hand counts as the latest job of the schedule. */
export async function noteTriggered(
  tx: Queryable,
  shard: number,
  scheduleId: string,
  jobId: string,
): Promise<void> {
  await tx.run(FIRED, [shard, scheduleId, jobId]);
}
