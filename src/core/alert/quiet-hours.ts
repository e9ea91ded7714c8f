/**
 * Hours of the day in which a route holds back what is not critical. They are local times of a time
 * zone, so they follow its clock changes.
 */

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

export interface QuietHours {
  /** `22:00`, the first quiet minute. */
  from: string;
  /** `07:00`, the first minute that is not quiet; at or before `from`: of the next day. */
  to: string;
  timezone: string;
  /** The days on which they begin; null: every day. */
  days: Weekday[] | null;
}

const CLOCK_TIME = /^([01]\d|2[0-3]):([0-5]\d)$/;
const DAY_MINUTES = 24 * 60;

export function isClockTime(text: string): boolean {
  return CLOCK_TIME.test(text);
}

/** `22:00-07:00`; null when it is something else. */
export function parseHours(text: string): Pick<QuietHours, 'from' | 'to'> | null {
  const [from = '', to = '', ...rest] = text.split('-').map((part) => part.trim());
  return rest.length === 0 && isClockTime(from) && isClockTime(to) ? { from, to } : null;
}

/** Whether they would never end: 24 hours on each day. */
export function isEndless({ from, to, days }: QuietHours): boolean {
  return from === to && new Set(days ?? WEEKDAYS).size === WEEKDAYS.length;
}

export function isTimezone(name: string): boolean {
  // An offset is accepted by some versions of ICU, but does not follow clock changes.
  if (/^[+-]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).format(0) !== '';
  } catch {
    return false;
  }
}

export function isQuiet({ from, to, timezone, days }: QuietHours, at: Date): boolean {
  const { minute, day } = localTime(at, timezone);
  const [start, end] = [minutesOf(from), minutesOf(to)];
  const begins = (index: number) => days === null || days.includes(WEEKDAYS[index % 7] ?? 'mon');
  if (start < end) return begins(day) && minute >= start && minute < end;
  return (begins(day) && minute >= start) || (begins(day + 6) && minute < end);
}

/** `22:00-07:00 Europe/Berlin on mon, tue`. */
export function quietHoursText({ from, to, timezone, days }: QuietHours): string {
  return `${from}-${to} ${timezone}${days === null ? '' : ` on ${days.join(', ')}`}`;
}

function minutesOf(time: string): number {
  const [, hours, minutes] = CLOCK_TIME.exec(time) ?? [];
  return (Number(hours) * 60 + Number(minutes)) % DAY_MINUTES;
}

function localTime(at: Date, timeZone: string): { minute: number; day: number } {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).formatToParts(at);
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? '';
  const day = WEEKDAYS.findIndex((name) => name === part('weekday').toLowerCase());
  return { minute: Number(part('hour')) * 60 + Number(part('minute')), day };
}
