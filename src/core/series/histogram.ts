import { duration } from '../values/duration.ts';

/**
 * Durations as counts between fixed edges, which a database can add up. The edges are part of the
 * stored data, so they never change. Each is at most 1.21 times the one before; so the middle of a
 * bucket is off by at most 10 % (`ERROR_MAX`) of any time in it.
 */
const GROWTH_MAX = 1.21;

/** The edges that Prometheus gets. */
export const COARSE_EDGES_MS: readonly number[] = [
  5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000,
  600_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000,
];

export const EDGES_MS: readonly number[] = COARSE_EDGES_MS.flatMap((edge, at) => {
  const next = COARSE_EDGES_MS[at + 1];
  if (next === undefined) return [edge];
  const parts = Math.ceil(Math.log(next / edge) / Math.log(GROWTH_MAX));
  return Array.from({ length: parts }, (_, part) =>
    Number((edge * (next / edge) ** (part / parts)).toPrecision(4)),
  );
});

/** One more than edges: the last bucket is unbounded. */
export const BUCKETS = EDGES_MS.length + 1;

/** The largest error of an estimate between the first and the last edge, as a share. */
export const ERROR_MAX = 0.1;

/** The bucket of a time, as `width_bucket` numbers them. */
export function bucketOf(ms: number): number {
  let low = 0;
  let high = EDGES_MS.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ms < (EDGES_MS[middle] ?? Infinity)) high = middle;
    else low = middle + 1;
  }
  return low;
}

export function emptyCounts(): number[] {
  return Array.from({ length: BUCKETS }, () => 0);
}

/** Counts by bucket, as they are stored. */
export type StoredCounts = Readonly<Record<string, number>>;

export function addStored(counts: number[], stored: StoredCounts): void {
  for (const [bucket, n] of Object.entries(stored)) {
    const at = Number(bucket);
    if (at in counts) counts[at] = (counts[at] ?? 0) + n;
  }
}

/** Counts by the coarse edges. */
export function coarseCounts(counts: readonly number[]): number[] {
  const sums = Array.from({ length: COARSE_EDGES_MS.length + 1 }, () => 0);
  for (const [bucket, count] of counts.entries()) {
    const { from } = rangeOf(bucket);
    const coarse = COARSE_EDGES_MS.findLastIndex((edge) => edge <= from) + 1;
    sums[coarse] = (sums[coarse] ?? 0) + count;
  }
  return sums;
}

/** The edges around a quantile, in milliseconds. `to` is null beyond the last edge. */
export interface TimeRange {
  from: number;
  to: number | null;
}

export interface Quantiles {
  p50: TimeRange | null;
  p95: TimeRange | null;
  p99: TimeRange | null;
}

export function quantilesMs(counts: readonly number[]): Quantiles {
  const of = (share: number) => quantileMs(counts, share);
  return { p50: of(0.5), p95: of(0.95), p99: of(0.99) };
}

/** The bucket of the quantile `share`. Null when there are no values. */
export function quantileMs(counts: readonly number[], share: number): TimeRange | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = share * total;
  for (const [bucket, count] of counts.entries()) {
    if (count > 0 && left <= count) return rangeOf(bucket);
    left -= count;
  }
  return rangeOf(BUCKETS - 1);
}

/** One number for a quantile, for charts and comparisons. Null when there are no values. */
export function quantileEstimateMs(counts: readonly number[], share: number): number | null {
  const range = quantileMs(counts, share);
  return range && estimateMs(range);
}

/**
 * The geometric middle: both edges are the same factor away from it. Of the first bucket it is the half
 * of its edge, of the last, which has no end, the lower edge.
 */
function estimateMs({ from, to }: TimeRange): number {
  if (to === null) return from;
  return from === 0 ? to / 2 : Math.sqrt(from * to);
}

export function rangeOf(bucket: number): TimeRange {
  return { from: EDGES_MS[bucket - 1] ?? 0, to: EDGES_MS[bucket] ?? null };
}

/** A time that is known within a bucket, for people: "< 5 ms", "≈ 1.6 s", "> 1d". */
export function rangeText(range: TimeRange): string {
  if (range.to === null) return `> ${duration(range.from)}`;
  if (range.from === 0) return `< ${duration(range.to)}`;
  return `≈ ${duration(roundedMs(estimateMs(range)))}`;
}

const MINUTE_MS = 60_000;

/** Two digits, or whole seconds above a minute: more would look exact. */
function roundedMs(ms: number): number {
  if (ms < MINUTE_MS) return Number(ms.toPrecision(2));
  const unitMs = ms < 10 * MINUTE_MS ? 5_000 : MINUTE_MS;
  return Math.round(ms / unitMs) * unitMs;
}
