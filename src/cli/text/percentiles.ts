/** Percentile by nearest rank; NaN without values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export interface Percentiles {
  p50: number;
  p95: number;
  p99: number;
}

export function percentiles(values: readonly number[]): Percentiles {
  const at = (share: number) => Math.round(10 * percentile(values, share)) / 10;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}
