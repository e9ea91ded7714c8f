const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
/** The longest year, with a leap day. */
export const YEAR_MS = 366 * DAY_MS;

/** A duration for people: "12 ms", "1.2 s", "4m02s", "3h05m", "2d3h", "7d". */
export function duration(lengthMs: number): string {
  const ms = Math.max(0, Math.round(lengthMs));
  if (ms < SECOND_MS) return `${ms} ms`;
  // 59,960 ms would round to "60.0 s".
  if (ms < MINUTE_MS) return `${Math.floor(ms / 100) / 10} s`;
  if (ms < HOUR_MS) return `${part(ms, MINUTE_MS)}m${rest(ms % MINUTE_MS, SECOND_MS, 's')}`;
  if (ms < DAY_MS) return `${part(ms, HOUR_MS)}h${rest(ms % HOUR_MS, MINUTE_MS, 'm')}`;
  const hours = part(ms % DAY_MS, HOUR_MS);
  return `${part(ms, DAY_MS)}d${hours === 0 ? '' : `${hours}h`}`;
}

/** In whole seconds: a text that is shown again and again does not flicker. */
export function wholeSeconds(lengthMs: number): string {
  const seconds = part(lengthMs, SECOND_MS);
  return seconds < 1 ? '0 s' : duration(seconds * SECOND_MS);
}

/** The time since a moment. */
export function timeSince(at: string, now: Date): string {
  return wholeSeconds(now.getTime() - Date.parse(at));
}

/** For narrow table columns, without tenths of a second. */
export function age(lengthMs: number): string {
  const ms = Math.max(0, lengthMs);
  if (ms < MINUTE_MS) return `${part(ms, SECOND_MS)}s`;
  if (ms < HOUR_MS) return `${part(ms, MINUTE_MS)}m`;
  if (ms < DAY_MS) return `${part(ms, HOUR_MS)}h`;
  return `${part(ms, DAY_MS)}d`;
}

function part(ms: number, unitMs: number): number {
  return Math.floor(ms / unitMs);
}

/** A full hour is "1h", without "00m". */
function rest(ms: number, unitMs: number, unit: string): string {
  const value = part(ms, unitMs);
  return value === 0 ? '' : `${String(value).padStart(2, '0')}${unit}`;
}
