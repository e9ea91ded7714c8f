import { Registry } from 'prom-client';

/**
 * A metric with all its values. Most metrics come from the database, so families are made from rows
 * on each scrape; prom-client counts what only this process knows, and formats both.
 */
export interface Family {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  values: readonly Sample[];
}

export interface Sample {
  /** For the series of a histogram, which have suffixes. */
  metricName?: string;
  labels: Record<string, string>;
  value: number;
}

export function counter(name: string, help: string, values: readonly Sample[]): Family {
  return { name, help, type: 'counter', values };
}

export function gauge(name: string, help: string, values: readonly Sample[]): Family {
  return { name, help, type: 'gauge', values };
}

/** `counts` are per bucket, one more than edges; Prometheus wants cumulative counts. */
export interface Spread {
  labels: Record<string, string>;
  counts: readonly number[];
  sum: number;
}

export function histogram(
  name: string,
  help: string,
  edges: readonly number[],
  spreads: readonly Spread[],
): Family {
  const values = spreads.flatMap(({ labels, counts, sum }) => {
    let below = 0;
    const buckets = counts.map((count, bucket) => {
      below += count;
      const le = String(edges[bucket] ?? '+Inf');
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: below };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: below },
    ];
  });
  return { name, help, type: 'histogram', values };
}

/** The families in the text format. */
export async function textOf(families: readonly Family[]): Promise<string> {
  const writer = new Registry();
  for (const family of families) {
    const { name } = family;
    writer.registerMetric({ name, get: async () => await Promise.resolve(family) } as never);
  }
  return await writer.metrics();
}

export const CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;
