import { csvCells } from '../values/csv-cell.ts';
import { DAY_MS } from '../values/duration.ts';

/**
 * What jobs used, by day (UTC), definition and tenant. An attempt counts on the day on which it ended,
 * also when it is retried; a job counts when it ends. CPU time and memory are those of attempts that
 * have a process of their own: nothing is measured of inline jobs.
 */
export const USAGE_GROUPS = ['day', 'tenant', 'definition'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

export const USAGE_FORMATS = ['json', 'csv'] as const;
export type UsageFormat = (typeof USAGE_FORMATS)[number];

/** Days that a range without a start has, and that the longest one has. */
export const USAGE_DAYS_DEFAULT = 30;
export const USAGE_DAYS_MAX = 3_660;
/** The most rows of an answer; a finer question is refused. */
export const USAGE_ROWS_MAX = 50_000;

export interface UsageSums {
  /** Jobs that ended, in any way. */
  jobs: number;
  /** Attempts that ended, hooks included. */
  attempts: number;
  runSeconds: number;
  /** Null when none was measured. */
  cpuSeconds: number | null;
  /** Of the largest attempt; null when none was measured. */
  peakRssBytes: number | null;
}

export function isCpuUnknown({ cpuSeconds }: Pick<UsageSums, 'cpuSeconds'>): boolean {
  return cpuSeconds === null;
}

export interface UsageRow extends UsageSums {
  /** Null where the rows are not grouped by it. */
  day: string | null;
  tenant: string | null;
  definitionKey: string | null;
}

export interface UsageView {
  at: string;
  /** Both days are included. */
  from: string;
  to: string;
  groupBy: UsageGroup[];
  rows: UsageRow[];
  total: UsageSums;
}

export interface StoredUsage extends Omit<UsageRow, 'runSeconds' | 'cpuSeconds'> {
  runMs: number;
  cpuMs: number;
}

export const dayOf = (at: Date) => at.toISOString().slice(0, 10);

export function isDay(text: string): boolean {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return ms >= 0 && dayOf(new Date(ms)) === text;
}

export interface DayRange {
  from: string;
  to: string;
}

/** The days that were asked for; a sentence when they are no range. */
export function planUsage(
  { from, to }: { from?: string | undefined; to?: string | undefined },
  at: Date,
): DayRange | string {
  const last = to ?? dayOf(at);
  const first = from ?? dayOf(new Date(Date.parse(last) - (USAGE_DAYS_DEFAULT - 1) * DAY_MS));
  const days = (Date.parse(last) - Date.parse(first)) / DAY_MS + 1;
  if (days < 1) return 'must not be after to';
  return days > USAGE_DAYS_MAX
    ? `must be at most ${USAGE_DAYS_MAX} days before to`
    : { from: first, to: last };
}

/** Adds up the rows of all shards, by day, then tenant, then definition. */
export function usageView(
  stored: readonly StoredUsage[],
  { from, to }: DayRange,
  groupBy: readonly UsageGroup[],
  at: Date,
): UsageView {
  const groups = Map.groupBy(stored, ({ day, tenant, definitionKey }) =>
    [day, tenant, definitionKey].join('\n'),
  );
  const rows = [...groups.entries()]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([, [first, ...rest]]) => {
      if (!first) return [];
      const { day, tenant, definitionKey } = first;
      return { day, tenant, definitionKey, ...sumOf([first, ...rest]) };
    });
  const total = sumOf(stored);
  return { at: at.toISOString(), from, to, groupBy: inOrder(groupBy), rows, total };
}

function inOrder(groupBy: readonly UsageGroup[]): UsageGroup[] {
  return USAGE_GROUPS.filter((group) => groupBy.includes(group));
}

function sumOf(stored: readonly StoredUsage[]): UsageSums {
  const sum = (of: (one: StoredUsage) => number) => stored.reduce((all, one) => all + of(one), 0);
  const peaks = stored.flatMap(({ peakRssBytes }) => peakRssBytes ?? []);
  const cpuMs = sum((one) => one.cpuMs);
  // Attempts without a process or thread of their own leave neither CPU time nor memory.
  const isUnmeasured =
    cpuMs === 0 && peaks.length === 0 && stored.some(({ attempts }) => attempts > 0);
  return {
    jobs: sum(({ jobs }) => jobs),
    attempts: sum(({ attempts }) => attempts),
    runSeconds: secondsOf(sum(({ runMs }) => runMs)),
    cpuSeconds: isUnmeasured ? null : secondsOf(cpuMs),
    peakRssBytes: peaks.reduce<number | null>((most, one) => Math.max(most ?? 0, one), null),
  };
}

/** To the millisecond. */
function secondsOf(ms: number): number {
  return Math.round(ms) / 1_000;
}

const KEYS = { day: 'day', tenant: 'tenant', definition: 'definitionKey' } as const;
const SUMS = ['jobs', 'attempts', 'runSeconds', 'cpuSeconds', 'peakRssBytes'] as const;
const cell = csvCells({ separator: ',', escapeFormulas: true });

/** A line per row below a head, with the columns that the rows are grouped by. */
export function usageCsv({ groupBy, rows }: UsageView): string {
  const columns = [...groupBy.map((group) => KEYS[group]), ...SUMS];
  const lines = rows.map((row) => columns.map((one) => cell(String(row[one] ?? ''))));
  return [columns, ...lines].map((line) => `${line.join(',')}\r\n`).join('');
}
