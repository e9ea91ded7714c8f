import { DAY_MS } from '../core/values/duration.ts';
import type { Timing } from '../core/schedule/schedule.ts';
import type { Slot, SlotKey } from '../core/schedule/slot-plan.ts';
import { unknownName } from '../core/values/nearest.ts';
import { ScheduleError } from './error.ts';
import { type Pattern, patternOf } from './pattern.ts';
import { isZone, lastTransition, nextTransition, offsetMs, type Transition } from './zone.ts';

/** No clock change moves a local time further than this. */
const REACH_MS = 2 * DAY_MS;

/**
 * The slots of a schedule in order of time, in either direction.
 *
 * A cron expression describes local times; a slot is an instant. Between two clock changes they
 * differ by a constant, so the search goes from one such stretch to the next. Within a stretch
 * every matching local time is one slot. At a clock change:
 * - Forward: the local times in the gap do not exist. If the expression names its hours, each match
 *   is a slot at the instant of the change, marked `gap`; the policy decides whether it fires there
 *   or is skipped. With any hour (`*`) the interval continues.
 * - Back: the repeated local times belong to both stretches. If the expression names its hours and
 *   the policy is `once`, the second stretch begins after them.
 *
 * Several gap slots share one instant, so a slot is identified and ordered by its instant *and* its
 * local time.
 */
export class Calendar {
  readonly #timing: Timing;
  readonly #pattern: Pattern;

  /** Throws a `ScheduleError` when the expression or the zone is invalid. */
  constructor(timing: Timing) {
    this.#timing = timing;
    this.#pattern = patternOf(timing.cron);
    if (!isZone(timing.timezone)) throw unknownZone(timing.timezone);
  }

  /** Whether the expression names times of day, to which the DST policies apply. */
  get isByClock(): boolean {
    return this.#pattern.byClock;
  }

  /** The first slot after this instant, or null when none is left. */
  after(atMs: number): Slot | null {
    return this.next({ atMs, localMs: Infinity });
  }

  next(after: SlotKey): Slot | null {
    const { startAt, endAt } = this.#timing;
    const early = startAt !== null && after.atMs < startAt.getTime();
    const found = this.#next(early ? { atMs: startAt.getTime(), localMs: -Infinity } : after);
    return found && endAt && found.atMs >= endAt.getTime() ? null : found;
  }

  previous(before: SlotKey): Slot | null {
    const { startAt, endAt } = this.#timing;
    const late = endAt !== null && before.atMs >= endAt.getTime();
    const found = this.#previous(late ? { atMs: endAt.getTime(), localMs: -Infinity } : before);
    return found && startAt && found.atMs < startAt.getTime() ? null : found;
  }

  /** The slots from one up to an instant, in order; only the newest if there are too many. */
  newest(from: SlotKey, untilMs: number, limit: number): { slots: Slot[]; complete: boolean } {
    const slots: Slot[] = [];
    let before: SlotKey = { atMs: untilMs, localMs: Infinity };
    for (;;) {
      const slot = this.previous(before);
      if (!slot || isBefore(slot, from)) return { slots: slots.reverse(), complete: true };
      if (slots.length === limit) return { slots: slots.reverse(), complete: false };
      slots.push(slot);
      before = slot;
    }
  }

  /** Whether the local time of a slot occurs twice, and which occurrence the slot is. */
  repetition({ atMs, localMs, gap }: Slot): 'first' | 'second' | null {
    const zone = this.#timing.timezone;
    const last = lastTransition(zone, atMs, atMs - REACH_MS);
    if (!gap && last && localMs < last.atMs + last.beforeMs) return 'second';
    const next = nextTransition(zone, atMs, atMs + REACH_MS);
    return next && localMs >= next.atMs + next.afterMs ? 'first' : null;
  }

  #next(after: SlotKey): Slot | null {
    const zone = this.#timing.timezone;
    for (let from = after; ;) {
      const change = lastTransition(zone, from.atMs, from.atMs - REACH_MS);
      const shifted = change?.atMs === from.atMs ? this.#nextInGap(change, from.localMs) : null;
      if (shifted) return shifted;
      const offset = offsetMs(zone, from.atMs);
      const here = from.atMs + offset;
      const floor = change ? this.#firstLocal(change) : -Infinity;
      const localMs = this.#pattern.next(
        Math.max(from.localMs < here ? here - 1 : here, floor - 1),
      );
      if (localMs === null) return null;
      const atMs = localMs - offset;
      const coming = nextTransition(zone, from.atMs, Math.min(atMs, from.atMs + REACH_MS));
      if (coming) from = { atMs: coming.atMs, localMs: -Infinity };
      else if (atMs <= from.atMs + 2 * REACH_MS) return { atMs, localMs, gap: false };
      // No match for a long time: continue shortly before the next match, with its offset.
      else from = { atMs: atMs - REACH_MS, localMs: -Infinity };
    }
  }

  #previous(before: SlotKey): Slot | null {
    const zone = this.#timing.timezone;
    for (let bound = before; ;) {
      const inclusive = bound.localMs > bound.atMs + offsetMs(zone, bound.atMs);
      const change = inclusive ? null : lastTransition(zone, bound.atMs, bound.atMs);
      const shifted = change && this.#previousInGap(change, bound.localMs);
      if (shifted) return shifted;
      const lastMs = inclusive ? bound.atMs : bound.atMs - 1;
      const offset = offsetMs(zone, lastMs);
      const localMs = this.#pattern.previous(lastMs + offset + 1);
      if (localMs === null) return null;
      const atMs = localMs - offset;
      const begun = lastTransition(zone, lastMs, Math.max(atMs, lastMs - REACH_MS) - REACH_MS);
      if (begun && localMs < this.#firstLocal(begun)) {
        bound = { atMs: begun.atMs, localMs: begun.atMs + begun.afterMs };
      } else if (begun || atMs >= lastMs - 2 * REACH_MS) {
        return { atMs, localMs, gap: false };
      } else {
        bound = { atMs: atMs + REACH_MS, localMs: -Infinity };
      }
    }
  }

  /** The first local time that is a slot of the stretch after a change. */
  #firstLocal({ atMs, beforeMs, afterMs }: Transition): number {
    const once = this.#pattern.byClock && this.#timing.dstRepeat === 'once';
    return atMs + (once ? Math.max(beforeMs, afterMs) : afterMs);
  }

  #nextInGap({ atMs, beforeMs, afterMs }: Transition, afterLocalMs: number): Slot | null {
    if (!this.#pattern.byClock || afterMs < beforeMs) return null;
    const localMs = this.#pattern.next(Math.max(atMs + beforeMs - 1, afterLocalMs));
    return localMs !== null && localMs < atMs + afterMs ? { atMs, localMs, gap: true } : null;
  }

  #previousInGap({ atMs, beforeMs, afterMs }: Transition, beforeLocalMs: number): Slot | null {
    if (!this.#pattern.byClock || afterMs < beforeMs || beforeLocalMs === -Infinity) return null;
    const localMs = this.#pattern.previous(Math.min(atMs + afterMs, beforeLocalMs));
    return localMs !== null && localMs >= atMs + beforeMs ? { atMs, localMs, gap: true } : null;
  }
}

function isBefore(a: SlotKey, b: SlotKey): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.localMs < b.localMs);
}

function unknownZone(name: string): ScheduleError {
  const known = ['UTC', ...Intl.supportedValuesOf('timeZone')];
  const hint = /^[+-]/.test(name)
    ? ' (an offset is not a time zone: use a name like Etc/GMT-2)'
    : '';
  const sentence = `${unknownName('timezone', name, known)}${hint}`;
  return new ScheduleError('timezone', sentence);
}
