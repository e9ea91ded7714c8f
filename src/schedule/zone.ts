import { DAY_MS } from '../core/values/duration.ts';

/** Finds the clock changes of a time zone, from the offsets of the IANA database in Node. */

/** The clocks were `before` ahead of UTC until this instant, and are `after` ahead from then on. */
export interface Transition {
  atMs: number;
  beforeMs: number;
  afterMs: number;
}

const YEARS_REMEMBERED = 10_000;

/** The caches are small and never stale, since a process has one IANA database. */
const formatters = new Map<string, Intl.DateTimeFormat>();
const transitionsByYear = new Map<string, readonly Transition[]>();

/** Names only: an offset like +02:00 has no clock changes. */
export function isZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return false;
  try {
    formatterOf(name);
    return true;
  } catch {
    return false;
  }
}

/** The UTC offset of a zone at an instant. */
export function offsetMs(zone: string, atMs: number): number {
  // "11/15/2026, GMT+05:30"; zones without a change since 1900 may have seconds.
  const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(formatterOf(zone).format(atMs));
  if (!match) throw new Error(`unknown offset of time zone ${zone}`);
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = match;
  const ahead = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000;
  return sign === '-' ? -ahead : ahead;
}

/** The local time at an instant. */
export function localOf(zone: string, atMs: number): number {
  return atMs + offsetMs(zone, atMs);
}

/** The first clock change in (after, until], or null. */
export function nextTransition(zone: string, afterMs: number, untilMs: number): Transition | null {
  for (let year = yearOf(afterMs); year <= yearOf(untilMs); year += 1) {
    const found = transitionsIn(zone, year).find(({ atMs }) => atMs > afterMs);
    if (found) return found.atMs <= untilMs ? found : null;
  }
  return null;
}

/** The last clock change in [since, at], or null. */
export function lastTransition(zone: string, atMs: number, sinceMs: number): Transition | null {
  // A change at new year is found by searching the old year.
  for (let year = yearOf(atMs); year >= yearOf(sinceMs) - 1; year -= 1) {
    const found = transitionsIn(zone, year).findLast((one) => one.atMs <= atMs);
    if (found) return found.atMs >= sinceMs ? found : null;
  }
  return null;
}

/** No zone changes its clocks twice within a day, so one sample a day finds every change. */
function transitionsIn(zone: string, year: number): readonly Transition[] {
  const name = `${zone} ${year}`;
  const known = transitionsByYear.get(name);
  if (known) return known;
  const found: Transition[] = [];
  const end = Date.UTC(year + 1, 0, 1);
  let lowMs = Date.UTC(year, 0, 1);
  let beforeMs = offsetMs(zone, lowMs);
  while (lowMs < end) {
    const highMs = Math.min(end, lowMs + DAY_MS);
    const afterMs = offsetMs(zone, highMs);
    if (afterMs !== beforeMs) {
      found.push({ atMs: changeBetween(zone, lowMs, highMs, beforeMs), beforeMs, afterMs });
    }
    [lowMs, beforeMs] = [highMs, afterMs];
  }
  if (transitionsByYear.size >= YEARS_REMEMBERED) transitionsByYear.clear();
  transitionsByYear.set(name, found);
  return found;
}

/** The first second of the new offset, by bisection. */
function changeBetween(zone: string, lowMs: number, highMs: number, beforeMs: number): number {
  let [low, high] = [lowMs / 1_000, highMs / 1_000];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetMs(zone, middle * 1_000) === beforeMs) low = middle;
    else high = middle;
  }
  return high * 1_000;
}

function formatterOf(zone: string): Intl.DateTimeFormat {
  const known = formatters.get(zone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  formatters.set(zone, made);
  return made;
}

function yearOf(atMs: number): number {
  return new Date(atMs).getUTCFullYear();
}
