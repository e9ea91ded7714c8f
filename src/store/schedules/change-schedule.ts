import type { SchedulePause, ScheduleSpec, Timing } from '../../core/schedule/schedule.ts';
import { changesOf } from '../../core/access/changes.ts';
import { leftOver } from '../../schedule/due.ts';
import { firstSlot } from '../../schedule/first-slot.ts';
import { type Actor, audit } from '../access/audit.ts';
import { NOW_WITHIN } from '../connection/backend.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import { withSchedule } from './lock-schedule.ts';
import { heldOf, nextOf, pauseOf, type ScheduleRow, specOf } from './schedule-row.ts';
import { columnsOf, databaseNow, ScheduleNameTaken } from './schedules.ts';
import { insertSlots } from './slots.ts';

/**
 * A change fires no past slot: when the timing changes, or the schedule is paused or resumed, the
 * next slot is the first one from now on, and due slots without a decision are stored as skipped.
 * Any other change keeps the slots: one that is due now still fires.
 */
const UPDATE = statement<{ id: string }>(
  'update_schedule',
  `update longshore.schedule s
   set name = i.name, definition_version = i.definition_version, params = i.params::json,
     params_shape = i.params_shape, priority = i.priority, enabled = i.enabled, note = i.note, cron = i.cron,
     timezone = i.timezone, start_at = i.start_at, end_at = i.end_at, jitter_ms = i.jitter_ms,
     dst_gap = i.dst_gap, dst_repeat = i.dst_repeat, catch_up = i.catch_up,
     catch_up_window_ms = i.catch_up_window_ms, catch_up_max = i.catch_up_max,
     overlap = i.overlap, updated_at = clock_timestamp(),
     next_at = case when i.anew then i.next_at else s.next_at end,
     next_local = case when i.anew then i.next_local at time zone 'UTC' else s.next_local end,
     held_at = case when i.anew then null else s.held_at end,
     held_local = case when i.anew then null else s.held_local end,
     check_at = case when i.anew then i.next_at else s.check_at end,
     paused_at = case when not i.enabled then coalesce(s.paused_at, ${NOW_WITHIN}) end,
     paused_by = i.paused_by, pause_reason = i.pause_reason
   from json_to_record($3::json) as i(name text, definition_version int, params text, params_shape int, priority int,
     enabled boolean, note text, cron text, timezone text, start_at timestamptz,
     end_at timestamptz, jitter_ms int, dst_gap text, dst_repeat text, catch_up text,
     catch_up_window_ms bigint, catch_up_max int, overlap text, anew boolean,
     next_at timestamptz, next_local timestamptz, paused_by text, pause_reason text)
   where s.shard = $1 and s.id = $2
   returning s.id`,
);

const TIMING = ['cron', 'timezone', 'startAt', 'endAt', 'dstGap', 'dstRepeat'] as const;

export interface ScheduleChange {
  spec: ScheduleSpec;
  note: string | null;
  /** Replaces who paused it and why; kept when left out. */
  pause?: Pick<SchedulePause, 'by' | 'reason'>;
}

/** Decides from the locked row. Null: no change. */
export type Change = (before: ScheduleRow) => ScheduleChange | null;

/** False when there is no such schedule. Throws the errors of `createSchedule`. */
export async function changeSchedule(
  db: Db,
  tenant: string,
  id: string,
  change: Change,
  by: Actor | null = null,
): Promise<boolean> {
  const changed = await withSchedule(db, tenant, id, async (tx, shard, row) => {
    const wanted = change(row);
    if (!wanted) return true;
    await write(tx, shard, row, wanted);
    const entry = { tenant, action: 'schedule.change', subject: id };
    if (by) await audit(tx, by, { ...entry, ...changesOf(...auditable(row, wanted)) });
    return true;
  });
  return changed ?? false;
}

/** Before and after, with the reason of a pause. */
function auditable(row: ScheduleRow, { spec, pause }: ScheduleChange): [object, object] {
  const kept = pauseOf(row)?.reason ?? null;
  const reason = spec.enabled ? null : pause ? pause.reason : kept;
  return [
    { ...specOf(row), reason: kept },
    { ...spec, reason },
  ];
}

async function write(
  tx: Queryable,
  shard: number,
  row: ScheduleRow,
  { spec, note, pause }: ScheduleChange,
): Promise<void> {
  const before = specOf(row);
  const nowMs = (await databaseNow(tx)).getTime();
  const retimed = !sameTiming(spec, before);
  const anew = spec.enabled !== before.enabled || retimed;
  // Only a schedule that has ended can be paused without a next slot.
  const first = anew && (spec.enabled || retimed) ? firstSlot(spec, nowMs) : null;
  if (anew) {
    const reason = spec.enabled ? 'changed' : 'paused';
    const gone = leftOver(before, { next: nextOf(row), held: heldOf(row) }, reason, nowMs);
    const slots = gone.map((one) => ({ ...one, scheduleId: row.id, jobId: null }));
    await insertSlots(tx, shard, slots);
  }
  const paused = spec.enabled ? null : (pause ?? pauseOf(row));
  const values = {
    ...columnsOf(spec),
    params: tx.vault.seal(row.tenant, spec.paramsJson),
    note,
    paused_by: paused?.by ?? null,
    pause_reason: paused?.reason ?? null,
    anew,
    next_at: spec.enabled && first ? new Date(first.atMs) : null,
    next_local: spec.enabled && first ? new Date(first.localMs) : null,
  };
  try {
    await tx.run(UPDATE, [shard, row.id, JSON.stringify(values)]);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code !== '23505') throw error;
    throw new ScheduleNameTaken(spec.name ?? '', spec.definitionKey);
  }
}

export function sameTiming(one: Timing, other: Timing): boolean {
  return TIMING.every((field) => String(one[field]) === String(other[field]));
}
