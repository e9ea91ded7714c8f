import type { JobState } from '../../core/job/job.ts';
import type {
  CatchUp,
  DstGap,
  DstRepeat,
  Overlap,
  SchedulePause,
  ScheduleSpec,
} from '../../core/schedule/schedule.ts';
import type {
  ScheduleView,
  SlotReason,
  SlotStatus,
  SlotView,
} from '../../core/schedule/schedule.ts';
import type { SlotKey } from '../../core/schedule/slot-plan.ts';
import type { Vault } from '../connection/vault.ts';

/**
 * A row of `schedule`. Its local times are read and written as UTC; the driver would convert a
 * plain `timestamp` to the time zone of this machine.
 */
export interface ScheduleRow {
  id: string;
  tenant: string;
  name: string | null;
  source: 'api' | 'code';
  definition_key: string;
  definition_version: number | null;
  params: string;
  params_shape: number;
  priority: number;
  enabled: boolean;
  note: string | null;
  cron: string;
  timezone: string;
  start_at: Date | null;
  end_at: Date | null;
  jitter_ms: number;
  dst_gap: DstGap;
  dst_repeat: DstRepeat;
  catch_up: CatchUp;
  catch_up_window_ms: number;
  catch_up_max: number;
  overlap: Overlap;
  created_at: Date;
  updated_at: Date;
  last_enqueued_at: Date | null;
  next_at: Date | null;
  next_local: Date | null;
  held_at: Date | null;
  held_local: Date | null;
  paused_at: Date | null;
  paused_by: string | null;
  pause_reason: string | null;
}

/** The columns of a schedule `s`. */
export const SCHEDULE_COLUMNS = `s.id, s.tenant, s.name, s.source, s.definition_key,
  s.definition_version, s.params::text as params, s.params_shape, s.priority, s.enabled, s.note, s.cron, s.timezone,
  s.start_at, s.end_at, s.jitter_ms, s.dst_gap, s.dst_repeat, s.catch_up, s.catch_up_window_ms,
  s.catch_up_max, s.overlap, s.created_at, s.updated_at, s.last_enqueued_at, s.next_at,
  s.next_local at time zone 'UTC' as next_local, s.held_at,
  s.held_local at time zone 'UTC' as held_local, s.paused_at, s.paused_by, s.pause_reason`;

/** With opened params. Params that cannot be opened stay sealed. */
export function openRow<Row extends ScheduleRow>(vault: Vault, row: Row): Row {
  return { ...row, params: vault.openIfAble(row.tenant, row.params) };
}

export function specOf(row: ScheduleRow): ScheduleSpec {
  return {
    name: row.name,
    definitionKey: row.definition_key,
    definitionVersion: row.definition_version,
    paramsJson: row.params,
    paramsShape: row.params_shape,
    priority: row.priority,
    enabled: row.enabled,
    cron: row.cron,
    timezone: row.timezone,
    startAt: row.start_at,
    endAt: row.end_at,
    jitterMs: row.jitter_ms,
    dstGap: row.dst_gap,
    dstRepeat: row.dst_repeat,
    catchUp: row.catch_up,
    catchUpWindowMs: row.catch_up_window_ms,
    catchUpMax: row.catch_up_max,
    overlap: row.overlap,
  };
}

export function nextOf({ next_at: at, next_local: local }: ScheduleRow): SlotKey | null {
  return at && local ? { atMs: at.getTime(), localMs: local.getTime() } : null;
}

export function heldOf({ held_at: at, held_local: local }: ScheduleRow): SlotKey | null {
  return at && local ? { atMs: at.getTime(), localMs: local.getTime() } : null;
}

export interface SlotRow {
  slot_at: Date;
  local: Date;
  status: SlotStatus;
  reason: SlotReason | null;
  through: Date | null;
  job_id: string | null;
  job_state: JobState | null;
}

/** The columns of a slot `t`, with the state of its job. */
export const SLOT_COLUMNS = `t.slot_at, t.local at time zone 'UTC' as local, t.status, t.reason,
  t.through, t.job_id,
  coalesce(
    (select state from longshore.waiting w where w.shard = t.shard and w.id = t.job_id),
    (select state from longshore.running r where r.shard = t.shard and r.id = t.job_id),
    (select state from longshore.done f where f.shard = t.shard and f.id = t.job_id)) as job_state`;

export function viewOfSlot(row: SlotRow): SlotView {
  return {
    slot: row.slot_at.toISOString(),
    local: row.local.toISOString().slice(0, 19),
    status: row.status,
    reason: row.reason,
    through: iso(row.through),
    jobId: row.job_id,
    jobStatus: row.job_state,
  };
}

export function viewOf(row: ScheduleRow & Partial<SlotRow>, vault: Vault): ScheduleView {
  const { paramsJson, startAt, endAt, ...spec } = specOf(row);
  return {
    id: row.id,
    tenant: row.tenant,
    ...spec,
    params: vault.show(row.tenant, JSON.parse(paramsJson)),
    startAt: iso(startAt),
    endAt: iso(endAt),
    source: row.source,
    note: row.note,
    paused: pauseOf(row),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    lastEnqueuedAt: iso(row.last_enqueued_at),
    nextAt: iso(row.next_at),
    lastSlot: row.slot_at ? viewOfSlot(row as SlotRow) : null,
  };
}

export function pauseOf(row: ScheduleRow): SchedulePause | null {
  const { paused_at: since, paused_by: by, pause_reason: reason } = row;
  return since ? { since: since.toISOString(), by, reason } : null;
}

function iso(time: Date | null): string | null {
  return time ? time.toISOString() : null;
}
