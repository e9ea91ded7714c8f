import type { DstRepeat, Timing } from '../../../src/core/schedule/schedule.ts';
import type { Slot } from '../../../src/core/schedule/slot-plan.ts';
import { Calendar } from '../../../src/schedule/calendar.ts';

/**
 * What the calendar should say around a change of clocks, found by the dullest means: reading the
 * local clock of every single minute for two days. It shares nothing with the code under test but
 * the IANA database.
 */

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const AROUND_MS = 26 * HOUR_MS;

/** A cron expression and, independent of it, its meaning. */
export interface Times {
  cron: string;
  minutes: (minute: number) => boolean;
  hours: (hour: number) => boolean;
  byClock: boolean;
}

const any = () => true;
const only = (wanted: number) => (value: number) => value === wanted;

/** Expressions that a change at this local time can hurt. */
export function timesNear(localMs: number): Times[] {
  const at = new Date(localMs);
  const [hour, minute] = [at.getUTCHours(), at.getUTCMinutes()];
  const before = (hour + 23) % 24;
  const next = (hour + 1) % 24;
  const fixed = [hour, before, next].flatMap((h) =>
    [...new Set([0, minute, (minute + 29) % 60, 45])].map((m) => ({
      cron: `${m} ${h} * * *`,
      minutes: only(m),
      hours: only(h),
      byClock: true,
    })),
  );
  return [
    ...fixed,
    { cron: `*/15 ${hour} * * *`, minutes: (m) => m % 15 === 0, hours: only(hour), byClock: true },
    {
      cron: `20 ${[before, hour, next].join(',')} * * *`,
      minutes: only(20),
      hours: (h) => [before, hour, next].includes(h),
      byClock: true,
    },
    { cron: '0 0-5 * * *', minutes: only(0), hours: (h) => h <= 5, byClock: true },
    { cron: '* * * * *', minutes: any, hours: any, byClock: false },
    { cron: '*/30 * * * *', minutes: (m) => m % 30 === 0, hours: any, byClock: false },
    { cron: '17 */2 * * *', minutes: only(17), hours: (h) => h % 2 === 0, byClock: false },
    { cron: '@hourly', minutes: only(0), hours: any, byClock: false },
  ];
}

/**
 * The instants at which the offset of a zone changes, found by sampling every quarter of an hour.
 */
export function changesOf(zone: string, fromYear: number, toYear: number): number[] {
  const clock = localClock(zone);
  const found: number[] = [];
  const end = Date.UTC(toYear + 1, 0, 1);
  let ahead: number | null = null;
  for (let atMs = Date.UTC(fromYear, 0, 1); atMs < end; atMs += 15 * MINUTE_MS) {
    const now = clock(atMs) - atMs;
    if (ahead !== null && now !== ahead) found.push(atMs);
    ahead = now;
  }
  return found;
}

/** The sentences in which the calendar differs from the oracle around one change; none is good. */
export function differencesAt(zone: string, changeMs: number): string[] {
  const clock = localClock(zone);
  const [fromMs, untilMs] = [changeMs - AROUND_MS, changeMs + AROUND_MS];
  const minutes: { atMs: number; localMs: number }[] = [];
  for (let atMs = fromMs; atMs <= untilMs; atMs += MINUTE_MS) {
    minutes.push({ atMs, localMs: clock(atMs) });
  }
  return timesNear(clock(changeMs - MINUTE_MS)).flatMap((times) =>
    (times.byClock ? (['once', 'twice'] as const) : (['once'] as const)).flatMap((dstRepeat) => {
      const timing = timingOf(times.cron, zone, dstRepeat);
      const expected = expectedSlots(minutes, times, dstRepeat).map(tell);
      const calendar = new Calendar(timing);
      const about = `${zone} ${new Date(changeMs).toISOString()} "${times.cron}" ${dstRepeat}`;
      return [
        ...compare(`${about} forwards`, walk(calendar, fromMs, untilMs).map(tell), expected),
        ...compare(`${about} backwards`, walkBack(calendar, fromMs, untilMs).map(tell), expected),
      ];
    }),
  );
}

export function timingOf(cron: string, timezone: string, dstRepeat: DstRepeat = 'once'): Timing {
  return { cron, timezone, startAt: null, endAt: null, dstGap: 'shift', dstRepeat };
}

export function walk(calendar: Calendar, fromMs: number, untilMs: number): Slot[] {
  const slots: Slot[] = [];
  let slot = calendar.next({ atMs: fromMs, localMs: -Infinity });
  for (; slot && slot.atMs <= untilMs; slot = calendar.next(slot)) slots.push(slot);
  return slots;
}

export function walkBack(calendar: Calendar, fromMs: number, untilMs: number): Slot[] {
  const slots: Slot[] = [];
  let slot = calendar.previous({ atMs: untilMs, localMs: Infinity });
  for (; slot && slot.atMs >= fromMs; slot = calendar.previous(slot)) slots.unshift(slot);
  return slots;
}

function expectedSlots(
  minutes: readonly { atMs: number; localMs: number }[],
  times: Times,
  dstRepeat: DstRepeat,
): Slot[] {
  const fits = (localMs: number) => {
    const local = new Date(localMs);
    return times.minutes(local.getUTCMinutes()) && times.hours(local.getUTCHours());
  };
  const seen = new Set<number>();
  const slots: Slot[] = [];
  for (const [index, { atMs, localMs }] of minutes.entries()) {
    const last = minutes[index - 1]?.localMs ?? localMs - MINUTE_MS;
    for (let gone = last + MINUTE_MS; times.byClock && gone < localMs; gone += MINUTE_MS) {
      if (fits(gone)) slots.push({ atMs, localMs: gone, gap: true });
    }
    const again = seen.has(localMs) && times.byClock && dstRepeat === 'once';
    if (fits(localMs) && !again) slots.push({ atMs, localMs, gap: false });
    seen.add(localMs);
  }
  return slots;
}

function localClock(zone: string): (atMs: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  return (atMs) => {
    const [month = 0, day = 0, year = 0, hour = 0, minute = 0] = format
      .format(atMs)
      .split(/\D+/)
      .map(Number);
    return Date.UTC(year, month - 1, day, hour, minute);
  };
}

function tell({ atMs, localMs, gap }: Slot): string {
  const local = new Date(localMs).toISOString().slice(0, 16);
  return `${new Date(atMs).toISOString().slice(0, 16)}Z = ${local}${gap ? ' (gap)' : ''}`;
}

function compare(about: string, found: readonly string[], expected: readonly string[]): string[] {
  if (found.join() === expected.join()) return [];
  const missing = expected.filter((one) => !found.includes(one));
  const extra = found.filter((one) => !expected.includes(one));
  return [`${about}: lacks [${missing.join(', ')}], has [${extra.join(', ')}]`];
}
