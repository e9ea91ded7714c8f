import { DAY_MS, YEAR_MS } from '../values/duration.ts';

/**
 * The words of schedules. A schedule is a cron expression, a time zone and policies; it makes jobs.
 * A *slot* is one instant at which it is due. Each slot ends exactly one way, and that is written
 * down: it fired, it was skipped for a reason, or it collapsed into another slot that fires for both.
 */

/** A local time that does not exist, because clocks went forward: run right after, or not at all. */
export const DST_GAPS = ['shift', 'skip'] as const;
/** A local time that comes twice, because clocks went back: run the first time only, or both. */
export const DST_REPEATS = ['once', 'twice'] as const;
/** Slots that passed while nothing was there to see them. */
export const CATCH_UPS = ['none', 'latest', 'all'] as const;
/** A slot that comes due while an earlier job of the schedule has not ended. */
export const OVERLAPS = ['allow', 'skip', 'queue-one'] as const;

export type DstGap = (typeof DST_GAPS)[number];
export type DstRepeat = (typeof DST_REPEATS)[number];
export type CatchUp = (typeof CATCH_UPS)[number];
export type Overlap = (typeof OVERLAPS)[number];

export const SLOT_STATUSES = ['fired', 'skipped', 'collapsed'] as const;
export type SlotStatus = (typeof SLOT_STATUSES)[number];

export const SLOT_REASONS = [
  'triggered', // fired: A person asked for it; it belongs to no cron slot.
  'caught_up', // fired: It was missed and made good for.
  'dst_gap', // skipped: Its local time did not exist. collapsed: It shifted onto another slot.
  'missed', // skipped: Nobody was there in time, and the catch-up policy gives it up.
  'catch_up_window', // skipped: Missed for longer than the catch-up window.
  'catch_up_max', // skipped: More were missed than are made good for.
  'newer_slot', // collapsed: A newer slot fires for it.
  'overlap', // skipped: An earlier job was not over. collapsed: One job is queued for it already.
  'paused', // skipped: It was due when the schedule was paused.
  'changed', // skipped: It was due when the schedule was changed.
] as const;
export type SlotReason = (typeof SLOT_REASONS)[number];

/** When a schedule is due: what decides its slots, and nothing else. */
export interface Timing {
  cron: string;
  timezone: string;
  startAt: Date | null;
  endAt: Date | null;
  dstGap: DstGap;
  dstRepeat: DstRepeat;
}

/** What becomes of slots that are due. */
export interface SlotPolicy {
  catchUp: CatchUp;
  catchUpWindowMs: number;
  catchUpMax: number;
  overlap: Overlap;
}

/** All that a person can say about a schedule. */
export interface ScheduleSpec extends Timing, SlotPolicy {
  name: string | null;
  definitionKey: string;
  /** Null means the highest published one at the time of each slot. */
  definitionVersion: number | null;
  paramsJson: string;
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
  priority: 0,
  enabled: true,
  jitterMs: 0,
} as const satisfies Partial<ScheduleSpec>;

/** The note on a schedule that its definition's code no longer has. */
export const REMOVED_FROM_CODE = 'removed from code';
/** The same when a person had paused it before: putting it back does not resume it. */
export const REMOVED_WHILE_PAUSED = 'removed from code while it was paused';

/** A schedule as the outside sees it. */
export interface ScheduleView extends Omit<ScheduleSpec, 'paramsJson' | 'startAt' | 'endAt'> {
  id: string;
  tenant: string;
  params: unknown;
  startAt: string | null;
  endAt: string | null;
  /** Who made it: a person through the API, or a definition's own code. */
  source: 'api' | 'code';
  /** A word on why it is as it is, such as that the code no longer has it. */
  note: string | null;
  createdAt: string;
  updatedAt: string;
  lastEnqueuedAt: string | null;
  /** The next slot; null while it is paused, and when there is none left. */
  nextAt: string | null;
  lastSlot: SlotView | null;
}

/** One slot of a schedule and what became of it. */
export interface SlotView {
  /** The instant at which it was due. */
  slot: string;
  /** The local time that the cron expression meant, without an offset. */
  local: string;
  status: SlotStatus;
  reason: SlotReason | null;
  /** For the one row that stands for many skipped slots: the instant of the last of them. */
  through: string | null;
  jobId: string | null;
  /** How that job is now; null when it is gone by retention, or there never was one. */
  jobStatus: string | null;
}
