import { Registry } from 'prom-client';

/**
 * A metric as Prometheus wants it, with all its values. Most of what Longshore tells is known to the
 * database, not to the process that is asked, so families are made from rows at the moment of the
 * question; prom-client only counts what a process alone knows, and writes both down.
 */
export interface Family {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  values: readonly Sample[];
}

export interface Sample {
  /** For the parts of a histogram, whose names are longer. */
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

/** `counts` are those of single buckets, one more than there are edges; Prometheus wants their sums. */
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

/** The text of families that are at hand. */
export async function textOf(families: readonly Family[]): Promise<string> {
  const writer = new Registry();
  for (const family of families) {
    const { name } = family;
    writer.registerMetric({ name, get: async () => await Promise.resolve(family) } as never);
  }
  return await writer.metrics();
}

export const CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;
