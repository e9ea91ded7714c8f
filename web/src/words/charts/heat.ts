import { duration } from '../../../../src/core/values/duration.ts';
import type { SeriesHistogram } from '../../../../src/core/series/series.ts';

/** A heat map: time to the right, durations upwards, the number of attempts as colour. */
export interface Heat {
  rows: { from: number; to: number | null }[];
  /** Counts by step, then by row. */
  counts: number[][];
  most: number;
}

const ROWS_MAX = 24;

/** Neighbouring buckets share a row if there are too many. */
export function heatOf({ buckets, counts }: SeriesHistogram): Heat {
  const share = Math.max(1, Math.ceil(buckets.length / ROWS_MAX));
  const starts = Array.from({ length: Math.ceil(buckets.length / share) }, (_, row) => row * share);
  const rows = starts.map((start) => {
    const last = buckets[Math.min(start + share, buckets.length) - 1];
    return { from: buckets[start]?.from ?? 0, to: last ? last.to : null };
  });
  const merged = counts.map((step) =>
    starts.map((start) => step.slice(start, start + share).reduce((sum, n) => sum + n, 0)),
  );
  return { rows, counts: merged, most: Math.max(0, ...merged.flat()) };
}

/** How strong the colour of a cell is, 0 to 1. A single attempt among thousands stays visible. */
export function strengthOf(count: number, most: number): number {
  if (count === 0) return 0;
  return most <= 1 ? 1 : 0.15 + 0.85 * (Math.log(count) / Math.log(most));
}

export function rowWords({ from, to }: Heat['rows'][number]): string {
  if (to === null) return `> ${duration(from)}`;
  return from === 0 ? `< ${duration(to)}` : `${duration(from)} to ${duration(to)}`;
}

/** The lower edge of a row, for the axis. */
export function edgeWords(rows: Heat['rows'], at: number): string {
  const row = rows[at];
  if (row) return row.from === 0 ? '0' : duration(row.from);
  const last = rows.at(-1);
  return last && last.to !== null && at === rows.length ? duration(last.to) : '';
}

export function heatWords(heat: Heat, during: string): string {
  const total = heat.counts.flat().reduce((sum, n) => sum + n, 0);
  const [first, last] = [heat.rows[0], heat.rows.at(-1)];
  if (!first || !last) return `Durations, ${during}: no attempts`;
  const range =
    last.to === null ? `more than ${duration(last.from)}` : `up to ${duration(last.to)}`;
  return `Durations of ${total.toLocaleString('en')} attempts, ${during}: from ${duration(first.from)}, ${range}`;
}
