import { quantileEstimateMs } from '../series/histogram.ts';
import { GROWTH_FLOOR_MS, LATENCY_TIMES_MIN } from './alert.ts';

/** The times of a definition as histograms: within the window, and in the same hours a week ago. */
export interface Times {
  now: readonly number[];
  /** Empty for a rule that does not compare. */
  weekAgo: readonly number[];
}

/** Null when there are too few times. */
export function p95Ms(counts: readonly number[]): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total < LATENCY_TIMES_MIN) return null;
  return quantileEstimateMs(counts, 0.95);
}

/** 300 is three times as long as a week ago; 0 when the two cannot be compared. */
export function growthPercent({ now, weekAgo }: Times): number {
  const [after, before] = [p95Ms(now), p95Ms(weekAgo)];
  if (after === null || before === null || before === 0 || after < GROWTH_FLOOR_MS) return 0;
  return Math.round((100 * after) / before);
}

/** Versions and shards of a definition are added up before a p95 is taken. */
export function timesSum(one: Times, other: Times): Times {
  return { now: sumOf(one.now, other.now), weekAgo: sumOf(one.weekAgo, other.weekAgo) };
}

function sumOf(one: readonly number[], other: readonly number[]): number[] {
  const length = Math.max(one.length, other.length);
  return Array.from({ length }, (_, index) => (one[index] ?? 0) + (other[index] ?? 0));
}
