/**
 * How far back failures are looked at, and in how many parts. The parts begin at round times, so that
 * a table of them keeps still while time goes on.
 */
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export const WINDOWS = {
  '1h': { words: 'Last hour', partMs: 10 * MINUTE_MS, parts: 6 },
  '24h': { words: 'Last 24 hours', partMs: 3 * HOUR_MS, parts: 8 },
  '7d': { words: 'Last 7 days', partMs: DAY_MS, parts: 7 },
  '30d': { words: 'Last 30 days', partMs: 3 * DAY_MS, parts: 10 },
} as const;

export type WindowName = keyof typeof WINDOWS;

export function isWindow(name: string | undefined): name is WindowName {
  return name !== undefined && Object.hasOwn(WINDOWS, name);
}

export interface TimePart {
  from: string;
  to: string;
}

/** The last part holds the present. */
export function partsOfWindow(name: WindowName, now: Date): TimePart[] {
  const { partMs, parts } = WINDOWS[name];
  const lastMs = Math.floor(now.getTime() / partMs) * partMs;
  return Array.from({ length: parts }, (_, at) => {
    const fromMs = lastMs - (parts - 1 - at) * partMs;
    return {
      from: new Date(fromMs).toISOString(),
      to: new Date(fromMs + partMs).toISOString(),
    };
  });
}

const TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const DATE = new Intl.DateTimeFormat('en-GB', { day: '2-digit', month: 'short' });

/** Short enough for the head of a column. */
export function partWords(name: WindowName, { from }: TimePart): string {
  const format = WINDOWS[name].partMs < DAY_MS ? TIME : DATE;
  return format.format(new Date(from));
}
