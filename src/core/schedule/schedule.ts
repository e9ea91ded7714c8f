import { FIRST_SHAPE } from '../shape/upgrade.ts';
import { DAY_MS, YEAR_MS } from '../values/duration.ts';

/**
 * The types of schedules. A schedule is a cron expression, a time zone and policies; it makes jobs.
 * A *slot* is one instant at which it is due. Each slot has exactly one recorded result: it fired,
 * it was skipped for a reason, or it collapsed into another slot that fires for both.
 */

/** A local time that does not exist because clocks went forward: run right after, or skip. */
export const DST_GAPS = ['shift', 'skip'] as const;
/** A local time that occurs twice because clocks went back: run once or twice. */
export const DST_REPEATS = ['once', 'twice'] as const;
/** Slots that passed while no scheduler was running. */
export const CATCH_UPS = ['none', 'latest', 'all'] as const;
/** A slot that is due while an earlier job of the schedule has not ended. */
export const OVERLAPS = ['allow', 'skip', 'queue-one'] as const;

export type DstGap = (typeof DST_GAPS)[number];
export type DstRepeat = (typeof DST_REPEATS)[number];
export type CatchUp = (typeof CATCH_UPS)[number];
export type Overlap = (typeof OVERLAPS)[number];

export const SLOT_STATUSES = ['fired', 'skipped', 'collapsed'] as const;
export type SlotStatus = (typeof SLOT_STATUSES)[number];

export const SLOT_REASONS = [
  'triggered', // fired: Triggered by hand; it belongs to no cron slot.
  'caught_up', // fired: It was missed and caught up.
  'dst_gap', // skipped: Its local time did not exist. collapsed: It shifted onto another slot.
  'missed', // skipped: No scheduler ran in time, and the catch-up policy skips it.
  'catch_up_window', // skipped: Missed for longer than the catch-up window.
  'catch_up_max', // skipped: More were missed than are caught up.
  'newer_slot', // collapsed: A newer slot fires for it.
  'overlap', // skipped: An earlier job had not ended. collapsed: A job is queued already.
  'paused', // skipped: It was due when the schedule was paused.
  'changed', // skipped: It was due when the schedule was changed.
] as const;
export type SlotReason = (typeof SLOT_REASONS)[number];

/** What determines the slots of a schedule. */
export interface Timing {
  cron: string;
  timezone: string;
  startAt: Date | null;
  endAt: Date | null;
  dstGap: DstGap;
  dstRepeat: DstRepeat;
}

/** What to do with due slots. */
export interface SlotPolicy {
  catchUp: CatchUp;
  catchUpWindowMs: number;
  catchUpMax: number;
  overlap: Overlap;
}

/** Everything that can be set on a schedule. */
export interface ScheduleSpec extends Timing, SlotPolicy {
  name: string | null;
  definitionKey: string;
  /** Null means the highest published version at the time of each slot. */
  definitionVersion: number | null;
  paramsJson: string;
  /** The shape of the params (`core/shape/upgrade.ts`). */
  paramsShape: number;
  priority: number;
  enabled: boolean;
  jitterMs: number;
}

export const CATCH_UP_WINDOW_MS_MAX = YEAR_MS;
export const CATCH_UP_MAX_MAX = 1_000;
export const JITTER_MS_MAX = DAY_MS;
export const SCHEDULE_NAME_MAX = 200;
export const CRON_LENGTH_MAX = 200;

export const SCHEDULE_DEFAULTS = {
  timezone: 'UTC',
  startAt: null,
  endAt: null,
  dstGap: 'shift',
  dstRepeat: 'once',
  catchUp: 'latest',
  catchUpWindowMs: 7 * DAY_MS,
  catchUpMax: 100,
  overlap: 'allow',
  definitionVersion: null,
  paramsShape: FIRST_SHAPE,
  priority: 0,
  enabled: true,
  jitterMs: 0,
} as const satisfies Partial<ScheduleSpec>;

/** The note on a schedule that was removed from the code of its definition. */
export const REMOVED_FROM_CODE = 'removed from code';
/** The same for a schedule that was paused by hand before: putting it back does not resume it. */
export const REMOVED_WHILE_PAUSED = 'removed from code while it was paused';

/** Since when, by whom and why a schedule is paused. */
export interface SchedulePause {
  since: string;
  /** The actor, as in the audit log; null when the code no longer has the schedule. */
  by: string | null;
  reason: string | null;
}

/** A schedule as shown by the API. */
export interface ScheduleView extends Omit<ScheduleSpec, 'paramsJson' | 'startAt' | 'endAt'> {
  id: string;
  tenant: string;
  params: unknown;
  startAt: string | null;
  endAt: string | null;
  /** Created through the API, or by the code of a definition. */
  source: 'api' | 'code';
  /** Explains the current state, for example that the code no longer has it. */
  note: string | null;
  /** Null while it is enabled. */
  paused: SchedulePause | null;
  createdAt: string;
  updatedAt: string;
  lastEnqueuedAt: string | null;
  /** The next slot; null while it is paused, and when none is left. */
  nextAt: string | null;
  lastSlot: SlotView | null;
}

/** One slot of a schedule and its result. */
export interface SlotView {
  /** The instant at which it was due. */
  slot: string;
  /** The local time of the cron expression, without an offset. */
  local: string;
  status: SlotStatus;
  reason: SlotReason | null;
  /** For a row that covers many skipped slots: the instant of the last one. */
  through: string | null;
  jobId: string | null;
  /** The current state of that job; null when retention deleted it or there was none. */
  jobStatus: string | null;
}
