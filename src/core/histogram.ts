/**
 * How long things take, kept as counts between fixed edges: what a database can add up and any number
 * of processes can answer the same about. The edges are part of what is stored, so they never change.
 */
export const EDGES_MS = [
  5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000,
  600_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000,
] as const;

/** One more than there are edges: the last bucket has no end. */
export const BUCKETS = EDGES_MS.length + 1;

export function emptyCounts(): number[] {
  return Array.from({ length: BUCKETS }, () => 0);
}

export interface Quantiles {
  p50: number | null;
  p95: number | null;
  p99: number | null;
}

export function quantilesMs(counts: readonly number[]): Quantiles {
  const of = (share: number) => quantileMs(counts, share);
  return { p50: of(0.5), p95: of(0.95), p99: of(0.99) };
}

/**
 * The time that this share of them stayed below, as if each bucket were filled evenly. Beyond the last
 * edge nothing is known but that it was longer. Null when there are none.
 */
export function quantileMs(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = share * total;
  for (const [bucket, count] of counts.entries()) {
    if (count > 0 && left <= count) return within(bucket, left / count);
    left -= count;
  }
  return within(BUCKETS - 1, 1);
}

function within(bucket: number, part: number): number {
  const from = bucket === 0 ? 0 : (EDGES_MS[bucket - 1] ?? 0);
  const to = EDGES_MS[bucket] ?? from;
  return Math.round((from + part * (to - from)) * 100) / 100;
}
