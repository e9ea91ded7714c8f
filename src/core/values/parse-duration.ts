import { DAY_MS, HOUR_MS, MINUTE_MS } from './duration.ts';

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  second: 1_000,
  seconds: 1_000,
  m: MINUTE_MS,
  min: MINUTE_MS,
  minute: MINUTE_MS,
  minutes: MINUTE_MS,
  h: HOUR_MS,
  hour: HOUR_MS,
  hours: HOUR_MS,
  d: DAY_MS,
  day: DAY_MS,
  days: DAY_MS,
  w: 7 * DAY_MS,
  week: 7 * DAY_MS,
  weeks: 7 * DAY_MS,
};

/** Milliseconds of "90s", "2 days" or "1h 30m"; null when the text is no duration. */
export function parseDuration(text: string): number | null {
  const parts = [...text.trim().matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)\s*/gy)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text.trim()) return null;
  let sumMs = 0;
  for (const [, amount, unit] of parts) {
    const unitMs = UNITS_MS[unit ?? ''];
    if (unitMs === undefined) return null;
    sumMs += Number(amount) * unitMs;
  }
  return sumMs;
}
