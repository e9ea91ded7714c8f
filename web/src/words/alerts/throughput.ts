import { type Quantiles, rangeText } from '../../../../src/core/series/histogram.ts';
import type { Throughput } from '../../../../src/core/views/stats.ts';

export function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

export function rateWords(rate: number | null): string {
  if (rate === null) return '–';
  const percent = rate * 100;
  return `${percent > 0 && percent < 1 ? '<1' : Math.round(percent)} %`;
}

/** Estimates: "< 5 ms / ≈ 1.6 s". */
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
