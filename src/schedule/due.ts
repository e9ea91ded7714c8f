import type { SlotPolicy, Timing } from '../core/schedule/schedule.ts';
import { planSlots, type Slot, type SlotKey, type SlotPlan } from '../core/schedule/slot-plan.ts';
import { Calendar } from './calendar.ts';
import { ScheduleError } from './error.ts';

/** How far a schedule has come, as the database keeps it. */
export interface Progress {
  /** The first slot that nothing has been decided about; null when there is none. */
  next: SlotKey | null;
  held: SlotKey | null;
  active: boolean;
}

/** So many slots are decided one by one; what is older ends in one row. It bounds every search. */
const SLOTS_MAX = 1_000;

/** Decides about every slot up to now, and says which one is next. */
export function decideDue(
  schedule: Timing & SlotPolicy,
  { next, held, active }: Progress,
  nowMs: number,
): SlotPlan & { next: Slot | null } {
  const calendar = new Calendar(schedule);
  const due = next && next.atMs <= nowMs ? next : null;
  const { slots, complete } = due
    ? calendar.newest(due, nowMs, SLOTS_MAX)
    : { slots: [], complete: true };
  const [oldest] = slots;
  const last = due && oldest && !complete ? calendar.previous(oldest) : null;
  const earlier = due && last ? { first: due, throughMs: last.atMs } : null;
  const plan = planSlots(schedule, { slots, earlier, held, active, nowMs });
  return { ...plan, next: calendar.after(nowMs) };
}

/** Null also for a timing that cannot be read any more: that must not keep it from being mended. */
function lastSlot(timing: Timing, nowMs: number): Slot | null {
  try {
    return new Calendar(timing).previous({ atMs: nowMs, localMs: Infinity });
  } catch (error) {
    if (error instanceof ScheduleError) return null;
    throw error;
  }
}

/** The slots that were due and are given up because somebody changes or pauses the schedule. */
export function leftOver(
  timing: Timing,
  { next, held }: Pick<Progress, 'next' | 'held'>,
  reason: 'changed' | 'paused',
  nowMs: number,
): SlotPlan['decisions'] {
  const gone: SlotPlan['decisions'] = [];
  const status = 'skipped';
  if (held) gone.push({ slot: held, throughMs: null, status, reason });
  if (next && next.atMs <= nowMs) {
    const last = lastSlot(timing, nowMs);
    const throughMs = last && last.atMs > next.atMs ? last.atMs : null;
    gone.push({ slot: next, throughMs, status, reason });
  }
  return gone;
}
