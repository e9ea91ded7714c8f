import { type Quantiles, rangeText } from '../../../../src/core/views/histogram.ts';
import type { Throughput } from '../../../../src/core/views/stats.ts';

export const OUTCOMES = ['succeeded', 'retried', 'failed', 'cancelled'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/**
 * Cumulative sums for a stacked chart: each series contains those below it. Times are in seconds,
 * as uPlot expects.
 */
export function piled(throughput: Throughput): { times: number[]; heights: number[][] } {
  const fromSeconds = Date.parse(throughput.from) / 1_000;
  const stepSeconds = throughput.stepMs / 1_000;
  const times = throughput.succeeded.map((_, at) => fromSeconds + at * stepSeconds);
  const heights: number[][] = [];
  for (const outcome of OUTCOMES) {
    const below = heights.at(-1);
    heights.push(throughput[outcome].map((count, at) => count + (below?.[at] ?? 0)));
  }
  return { times, heights };
}

export function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Text alternative of the chart. */
export function throughputWords(throughput: Throughput): string {
  const parts = OUTCOMES.map(
    (outcome) => `${sumOf(throughput[outcome]).toLocaleString('en')} ${outcome}`,
  );
  return `In the last ${throughput.succeeded.length} minutes: ${parts.join(', ')}`;
}

export function rateWords(rate: number | null): string {
  if (rate === null) return '–';
  const percent = rate * 100;
  return `${percent > 0 && percent < 1 ? '<1' : Math.round(percent)} %`;
}

/** Durations are counted in buckets, so a quantile is a range. */
export function quantileWords({ p50, p95 }: Quantiles): string {
  if (p50 === null || p95 === null) return '–';
  return `${rangeText(p50)} / ${rangeText(p95)}`;
}

/**
 * Shown below "All quiet". Jobs that failed and were retried since are in the chart, so they are
 * mentioned.
 */
export function quietWords(throughput: Throughput): string {
  const failed = sumOf(throughput.failed);
  const quiet = 'No dead letters from the last 24 hours, and no long waits.';
  if (failed === 0) return quiet;
  const jobs = failed === 1 ? '1 job' : `${failed.toLocaleString('en')} jobs`;
  return `${quiet} ${jobs} failed in the last hour and ${failed === 1 ? 'was' : 'were'} retried or deleted.`;
}
