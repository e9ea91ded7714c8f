import type { Timing } from '../core/schedule/schedule.ts';
import type { Slot } from '../core/schedule/slot-plan.ts';
import { Calendar } from './calendar.ts';
import { ScheduleError } from './error.ts';

/** The first slot of a new or changed schedule. Throws when it can never run. */
export function firstSlot(timing: Timing, nowMs: number): Slot {
  const { startAt, endAt } = timing;
  const open = new Calendar({ ...timing, startAt: null, endAt: null });
  if (open.after(nowMs) === null) {
    throw new ScheduleError('cron', 'matches no day within 400 years');
  }
  if (startAt && endAt && startAt.getTime() >= endAt.getTime()) {
    throw new ScheduleError('endAt', 'must be after startAt');
  }
  const slot = new Calendar(timing).after(nowMs);
  if (slot) return slot;
  if (!endAt) throw new ScheduleError('startAt', 'is too far away: no slot follows it');
  const since = startAt && startAt.getTime() > nowMs ? 'after startAt' : 'from now on';
  throw new ScheduleError('endAt', `must leave room for a slot: there is none ${since} before it`);
}
