import type { Timing } from '../core/schedule/schedule.ts';
import type { Slot } from '../core/schedule/slot-plan.ts';
import { Calendar } from './calendar.ts';
import { offsetMs } from './zone.ts';

/** A future run of a schedule, for people. */
export interface Upcoming {
  at: string;
  /** The UTC offset then: "+02:00". */
  offset: string;
  /** A note about a clock change. */
  note: string | null;
}

/** Bounds the walk over a second-wise expression inside a skipped hour. */
const STEPS_MAX = 10_000;

/** The next runs after an instant, according to the policies. */
export function upcoming(timing: Timing, afterMs: number, count: number): Upcoming[] {
  const calendar = new Calendar(timing);
  const found: Upcoming[] = [];
  let skipped: Slot[] = [];
  let slot = calendar.after(afterMs);
  for (let step = 0; slot && found.length < count && step < STEPS_MAX; step += 1) {
    const next = calendar.next(slot);
    if (slot.gap && timing.dstGap === 'skip') {
      skipped.push(slot);
    } else if (next?.atMs !== slot.atMs) {
      const notes = [...skipped.map(gapSkipped), noteOn(slot, timing, calendar)];
      const note = notes.filter((one) => one !== null).join('; ');
      found.push({ ...instantIn(timing.timezone, slot.atMs), note: note === '' ? null : note });
      skipped = [];
    }
    slot = next;
  }
  return found;
}

function instantIn(zone: string, atMs: number): { at: string; offset: string } {
  const minutes = Math.round(offsetMs(zone, atMs) / 60_000);
  const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const digits = [hours, rest].map((part) => String(part).padStart(2, '0')).join(':');
  return { at: new Date(atMs).toISOString(), offset: `${minutes < 0 ? '-' : '+'}${digits}` };
}

function noteOn(slot: Slot, { timezone, dstRepeat }: Timing, calendar: Calendar): string | null {
  if (slot.gap) {
    const instead = timeOf(slot.atMs + offsetMs(timezone, slot.atMs));
    return `${doesNotExist(slot)}: runs at ${instead}`;
  }
  const which = calendar.repetition(slot);
  if (which === null) return null;
  const twice = `${timeOf(slot.localMs)} comes twice on ${dayOf(slot.localMs)}, clocks go back`;
  const only = which === 'first' && calendar.isByClock && dstRepeat === 'once';
  return only ? `${twice}: runs the first time only` : `${twice}: this is the ${which} time`;
}

function gapSkipped(slot: Slot): string {
  return `${doesNotExist(slot)}: skipped`;
}

function doesNotExist({ localMs }: Slot): string {
  return `${timeOf(localMs)} does not exist on ${dayOf(localMs)}, clocks go forward`;
}

function dayOf(localMs: number): string {
  return new Date(localMs).toISOString().slice(0, 10);
}

/** With seconds only when they are not zero. */
function timeOf(localMs: number): string {
  return new Date(localMs).toISOString().slice(11, localMs % 60_000 === 0 ? 16 : 19);
}
