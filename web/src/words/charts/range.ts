import { inZone } from '../zone.ts';
import { textOf } from '../url-search.ts';

/** Time ranges of charts. */
export const RANGES = {
  '15m': { title: '15 min', words: 'last 15 minutes', minutes: 15 },
  '1h': { title: '1 h', words: 'last hour', minutes: 60 },
  '6h': { title: '6 h', words: 'last 6 hours', minutes: 360 },
  '24h': { title: '24 h', words: 'last 24 hours', minutes: 1_440 },
  '7d': { title: '7 d', words: 'last 7 days', minutes: 10_080 },
  '30d': { title: '30 d', words: 'last 30 days', minutes: 43_200 },
} as const;

export type RangeName = keyof typeof RANGES;

export const RANGE_DEFAULT: RangeName = '1h';
export const DAYS_MAX = 31;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** The shortest range that a drag makes. */
const ZOOM_MIN_MS = 5 * MINUTE_MS;
const RELEASE_HOURS_MAX = 720;

/** Search params of a screen with charts: a range that ends now, or a fixed one. */
export interface ChartSearch {
  range?: RangeName;
  from?: string;
  to?: string;
}

export function chartSearch(search: Record<string, unknown>): ChartSearch {
  const range = textOf(search, 'range');
  if (isRange(range)) return { range };
  const [from, to] = [momentOf(textOf(search, 'from')), momentOf(textOf(search, 'to'))];
  return from === undefined || to === undefined || from >= to ? {} : { from, to };
}

function isRange(name: string | undefined): name is RangeName {
  return name !== undefined && Object.hasOwn(RANGES, name);
}

function momentOf(text: string | undefined): string | undefined {
  const ms = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) || ms < 0 ? undefined : new Date(ms).toISOString();
}

/** The chosen range; null if it is a fixed one. */
export function rangeOf({ range, from, to }: ChartSearch): RangeName | null {
  return from !== undefined && to !== undefined ? null : (range ?? RANGE_DEFAULT);
}

/** The same for the server. */
export function seriesRange(search: ChartSearch): {
  minutes?: number;
  from?: string;
  to?: string;
} {
  const range = rangeOf(search);
  if (range !== null) return { minutes: RANGES[range].minutes };
  return { from: search.from ?? '', to: search.to ?? '' };
}

/** "last hour", or both ends of a fixed range. */
export function rangeWords(search: ChartSearch): string {
  const range = rangeOf(search);
  if (range !== null) return RANGES[range].words;
  return `${dayAndTime(Date.parse(search.from ?? ''))} to ${dayAndTime(Date.parse(search.to ?? ''))}`;
}

/** "in the last hour", "from 18 Nov, 03:00 to …". */
export function duringWords(during: string): string {
  return during.startsWith('last ') ? `in the ${during}` : `from ${during}`;
}

/** What a drag selected. A range that is too short grows on both sides, but not beyond now. */
export function zoomed(fromMs: number, toMs: number, now: Date): ChartSearch {
  const lackMs = Math.max(0, ZOOM_MIN_MS - (toMs - fromMs)) / 2;
  const end = Math.min(now.getTime(), toMs + lackMs);
  const begin = Math.min(fromMs - lackMs, end - ZOOM_MIN_MS);
  return { from: new Date(begin).toISOString(), to: new Date(end).toISOString() };
}

/** How far back to look for releases, for their marks. */
export function releaseHours(search: ChartSearch, now: Date): number {
  const range = rangeOf(search);
  const backMs =
    range === null
      ? now.getTime() - Date.parse(search.from ?? '')
      : RANGES[range].minutes * MINUTE_MS;
  return Math.min(RELEASE_HOURS_MAX, Math.ceil(backMs / HOUR_MS) + 1);
}

/** Why a typed range is refused; null if it is good. */
export function rangeProblem(from: Date | null, to: Date | null, now: Date): string | null {
  if (from === null || to === null) return 'Enter both times.';
  const [fromMs, toMs] = [from.getTime(), to.getTime()];
  if (fromMs >= Math.min(toMs, now.getTime()))
    return 'The start must be before the end and before now.';
  const isKept = now.getTime() - fromMs <= DAYS_MAX * 24 * HOUR_MS;
  return isKept ? null : `Charts go back ${DAYS_MAX} days.`;
}

const DAY_AND_TIME = inZone({
  day: '2-digit',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

export function dayAndTime(ms: number): string {
  return DAY_AND_TIME(new Date(ms));
}
