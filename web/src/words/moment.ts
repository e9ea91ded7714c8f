import { duration, timeSince, wholeSeconds } from '../../../src/core/values/duration.ts';
import { inZone } from './zone.ts';

export { timeSince, wholeSeconds };

const SECOND_MS = 1_000;
const NOW_MS = 1_500;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Relative time: "12 s ago", "in 4m02s". */
export function distance(at: string, now: Date): string {
  const awayMs = Date.parse(at) - now.getTime();
  if (Math.abs(awayMs) < NOW_MS) return 'now';
  const whole = Math.round(Math.abs(awayMs) / SECOND_MS) * SECOND_MS;
  return awayMs > 0 ? `in ${duration(whole)}` : `${duration(whole)} ago`;
}

const FULL = inZone({ dateStyle: 'medium', timeStyle: 'long' });
const CLOCK = inZone({ hour: '2-digit', minute: '2-digit', second: '2-digit' });
const SHORT_DAY = inZone({ day: '2-digit', month: 'short' });

/** In the time zone of the dashboard, and as in the API. */
export function fullMoment(at: string): string {
  return `${FULL(new Date(at))} · ${at}`;
}

export function clockTime(at: string): string {
  return CLOCK(new Date(at));
}

/** The time of day; with the date if it is not today. */
export function dayTime(at: string, now: Date): string {
  const time = clockTime(at).slice(0, 5);
  const day = SHORT_DAY(new Date(at));
  return day === SHORT_DAY(now) && Math.abs(now.getTime() - Date.parse(at)) < DAY_MS
    ? time
    : `${day}, ${time}`;
}

const DAY = inZone({ dateStyle: 'medium' });
const CLOCK_MS = inZone({
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
});

/** The date: "18 Nov 2026". */
export function dayOf(at: string): string {
  return DAY(new Date(at));
}

/** The time: "09:03:07.042". */
export function clockTimeWithMs(at: string): string {
  return CLOCK_MS(new Date(at));
}

/** The date and time: "18 Nov 2026, 09:03:07.042". */
export function momentWithMs(at: string): string {
  return `${dayOf(at)}, ${clockTimeWithMs(at)}`;
}

/** Local date and time in a time zone; full minutes without seconds, unless others have some. */
export function momentIn(at: string, timezone: string, beside: readonly string[] = []): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    weekday: 'short',
    day: '2-digit',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  const text = format.format(new Date(at));
  return beside.some(hasSeconds) ? text : text.replace(/:00$/, '');
}

function hasSeconds(at: string): boolean {
  return Date.parse(at) % MINUTE_MS >= SECOND_MS;
}

const MIB = 1_048_576;

export function bytes(count: number): string {
  return count < MIB ? `${Math.ceil(count / 1_024)} KiB` : `${Math.round(count / MIB)} MiB`;
}
