import { inZone } from '../zone.ts';

/** Time ranges of the dead letters, and their columns. */
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

/** Parts of the same length without gaps, the last of which ends at `end`. */
export function partsOfWindow(name: WindowName, end: Date): TimePart[] {
  const { partMs, parts } = WINDOWS[name];
  const beginMs = end.getTime() - parts * partMs;
  return Array.from({ length: parts }, (_, at) => ({
    from: new Date(beginMs + at * partMs).toISOString(),
    to: new Date(beginMs + (at + 1) * partMs).toISOString(),
  }));
}

/** Start of a window that ends now. */
export function beginOfWindow(name: WindowName, now: Date): string {
  const { partMs, parts } = WINDOWS[name];
  return new Date(now.getTime() - parts * partMs).toISOString();
}

const TIME = inZone({ hour: '2-digit', minute: '2-digit' });
const DATE = inZone({ day: '2-digit', month: 'short' });

/** Both ends of a part, for a column head; it breaks between date and time only. */
export function partWords(name: WindowName, { from, to }: TimePart): string {
  const isShort = WINDOWS[name].partMs < DAY_MS;
  const [begin, end] = [from, to].map((text) => {
    const at = new Date(text);
    return isShort ? TIME(at) : `${DATE(at).replace(' ', '\u00a0')} ${TIME(at)}`;
  });
  // A date and a time are two lines of a narrow column; the next part begins where this one ends.
  return isShort ? `${begin}\u00a0– ${end}` : `${begin}\u00a0–`;
}
