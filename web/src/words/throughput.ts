import type { Quantiles } from '../../../src/core/histogram.ts';
import type { Throughput } from '../../../src/core/stats.ts';
import { duration } from '../../../src/core/duration.ts';

export const OUTCOMES = ['succeeded', 'retried', 'failed', 'cancelled'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/**
 * The outcomes piled up, for a chart that draws one above the other: each line is the sum of those
 * below it and itself. Times are in seconds, as the chart counts them.
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

/** What the chart shows, for who cannot see it. */
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

export function quantileWords({ p50, p95 }: Quantiles): string {
  if (p50 === null || p95 === null) return '–';
  return `${duration(p50)}, 95 % within ${duration(p95)}`;
}
