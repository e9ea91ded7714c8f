import { duration } from '../../../src/core/values/duration.ts';

const SECOND_MS = 1_000;
const NOW_MS = 1_500;

/** Relative time: "12 s ago", "in 4m02s". */
export function distance(at: string, now: Date): string {
  const awayMs = Date.parse(at) - now.getTime();
  if (Math.abs(awayMs) < NOW_MS) return 'now';
  const whole = Math.round(Math.abs(awayMs) / SECOND_MS) * SECOND_MS;
  return awayMs > 0 ? `in ${duration(whole)}` : `${duration(whole)} ago`;
}

/** In whole seconds, to avoid flicker. */
export function wholeSeconds(lengthMs: number): string {
  return lengthMs < SECOND_MS ? '0 s' : duration(Math.floor(lengthMs / SECOND_MS) * SECOND_MS);
}

export function timeSince(at: string, now: Date): string {
  return wholeSeconds(now.getTime() - Date.parse(at));
}

const FULL = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'long',
});
const CLOCK = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

/** In local time, and as in the API. */
export function fullMoment(at: string): string {
  return `${FULL.format(new Date(at))} · ${at}`;
}

export function clockTime(at: string): string {
  return CLOCK.format(new Date(at));
}

/** Local date and time in a time zone. */
export function momentIn(at: string, timezone: string): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    weekday: 'short',
    day: '2-digit',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  return format.format(new Date(at)).replace(/:00$/, '');
}

const MIB = 1_048_576;

export function bytes(count: number): string {
  return count < MIB ? `${Math.ceil(count / 1_024)} KiB` : `${Math.round(count / MIB)} MiB`;
}
