import { type DayRange, dayOf, isDay } from '../../../../src/core/usage/usage.ts';
import { textOf } from '../url-search.ts';

const DAY_MS = 86_400_000;

/** Ranges of the usage screen, in days that end today (UTC). */
export const USAGE_RANGES = {
  '7d': { title: '7 d', words: 'last 7 days', days: 7 },
  '30d': { title: '30 d', words: 'last 30 days', days: 30 },
  '90d': { title: '90 d', words: 'last 90 days', days: 90 },
  '1y': { title: '1 y', words: 'last year', days: 365 },
} as const;
export type UsageRange = keyof typeof USAGE_RANGES;
export const USAGE_RANGE_DEFAULT: UsageRange = '30d';

export const MEASURES = {
  cpuSeconds: 'CPU time',
  runSeconds: 'Run time',
  jobs: 'Jobs',
} as const;
export type Measure = keyof typeof MEASURES;
export const MEASURE_DEFAULT: Measure = 'cpuSeconds';

/** Search params of the usage screen: a range that ends today, or fixed days. */
export interface UsageSearch {
  range?: UsageRange;
  from?: string;
  to?: string;
  definition?: string;
  measure?: Measure;
  tenants?: 'all';
}

export function usageSearch(search: Record<string, unknown>): UsageSearch {
  const [range, from, to] = ['range', 'from', 'to'].map((name) => textOf(search, name));
  const definition = textOf(search, 'definition');
  const measure = textOf(search, 'measure');
  const isFixed = from !== undefined && to !== undefined && rangeProblem(from, to) === null;
  return {
    ...(isFixed ? { from, to } : isNamed(USAGE_RANGES, range) && { range }),
    ...(definition !== undefined && { definition }),
    ...(isNamed(MEASURES, measure) && { measure }),
    ...(textOf(search, 'tenants') === 'all' && { tenants: 'all' as const }),
  };
}

function isNamed<Names extends object>(
  names: Names,
  name: string | undefined,
): name is keyof Names & string {
  return name !== undefined && Object.hasOwn(names, name);
}

/** The chosen range; null if it is a fixed one. */
export function usageRangeOf({ range, from }: UsageSearch): UsageRange | null {
  return from === undefined ? (range ?? USAGE_RANGE_DEFAULT) : null;
}

/** Both days are included. */
export function daysOf(search: UsageSearch, now: Date): DayRange {
  const { from, to } = search;
  if (from !== undefined && to !== undefined) return { from, to };
  const { days } = USAGE_RANGES[search.range ?? USAGE_RANGE_DEFAULT];
  return { from: dayOf(new Date(now.getTime() - (days - 1) * DAY_MS)), to: dayOf(now) };
}

export function usageRangeWords(search: UsageSearch): string {
  const range = usageRangeOf(search);
  return range === null ? `${search.from} to ${search.to}` : USAGE_RANGES[range].words;
}

/** Why typed days are refused; null if they are good. */
export function rangeProblem(from: string, to: string): string | null {
  if (!isDay(from) || !isDay(to)) return 'Enter both days.';
  return from <= to ? null : 'The first day must not be after the last.';
}

/** The days that a drag selected: of each, some part. */
export function draggedDays(fromMs: number, toMs: number): { from: string; to: string } {
  return { from: dayOf(new Date(fromMs)), to: dayOf(new Date(toMs)) };
}
