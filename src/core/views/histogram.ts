import { duration } from '../values/duration.ts';

/**
 * Durations as counts between fixed edges, which a database can add up. The edges are part of the
 * stored data, so they never change.
 */
export const EDGES_MS = [
  5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000,
  600_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000,
] as const;

/** One more than edges: the last bucket is unbounded. */
export const BUCKETS = EDGES_MS.length + 1;

export function emptyCounts(): number[] {
  return Array.from({ length: BUCKETS }, () => 0);
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

function rangeOf(bucket: number): TimeRange {
  return { from: EDGES_MS[bucket - 1] ?? 0, to: EDGES_MS[bucket] ?? null };
}

/** A range for people: "< 5 ms", "1–2.5 s", "500 ms–1 s", "> 6h". */
export function rangeText({ from, to }: TimeRange): string {
  if (to === null) return `> ${duration(from)}`;
  if (from === 0) return `< ${duration(to)}`;
  const [low = '', unit] = duration(from).split(' ');
  const isSame = unit !== undefined && duration(to).endsWith(` ${unit}`);
  return `${isSame ? low : duration(from)}–${duration(to)}`;
}
