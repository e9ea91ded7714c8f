import type { SlotPolicy, Timing } from '../core/schedule/schedule.ts';
import { planSlots, type Slot, type SlotKey, type SlotPlan } from '../core/schedule/slot-plan.ts';
import { Calendar } from './calendar.ts';
import { ScheduleError } from './error.ts';

/** The stored progress of a schedule. */
export interface Progress {
  /** The first undecided slot; null when there is none. */
  next: SlotKey | null;
  held: SlotKey | null;
  active: boolean;
}

/**
 * The most slots that are decided one by one; older slots share one row. It bounds every search.
 */
const SLOTS_MAX = 1_000;

/** Decides every slot up to now, and finds the next one. */
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

/** Null also when the timing is invalid, so that it can still be corrected. */
function lastSlot(timing: Timing, nowMs: number): Slot | null {
  try {
    return new Calendar(timing).previous({ atMs: nowMs, localMs: Infinity });
  } catch (error) {
    if (error instanceof ScheduleError) return null;
    throw error;
  }
}

/** The due slots that are dropped because the schedule is changed or paused. */
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
