import type { Bench } from '../harness/bench.ts';
import { BASELINE } from '../systems/catalogue.ts';

export interface Metric {
  /** Behind the name of the workload in the JSON rows: `latency-idle.p50`. Empty if alone. */
  key: string;
  unit: string;
  better: 'more' | 'less';
}

/** One thing that is measured, for each system that can do it. */
export interface Workload {
  name: string;
  /** One sentence above the table. */
  what: string;
  systems: readonly string[];
  /** Needs tables of this very checkout, so another one cannot be measured. */
  ownTables?: boolean;
  metrics: readonly Metric[];
  rounds: { full: number; quick: number };
  /** A first guess at how long one measurement takes; the run learns the rest. */
  seconds: { full: number; quick: number };
  /** Answers one value for each metric; NaN where a system has none. */
  measure(bench: Bench, system: string, round: number): Promise<Record<string, number>>;
}

/** The systems of a workload when there is a baseline. */
export function withBaseline({ systems, ownTables }: Workload): string[] {
  if (ownTables) return [...systems];
  return systems.flatMap((name) => (name === 'longshore' ? [name, BASELINE] : [name]));
}

export const RATE: Metric = { key: '', unit: 'jobs/s', better: 'more' };

/** Producers are the same code in all three set-ups of graphile-worker, so only one is measured. */
export const PRODUCERS = [
  'longshore',
  'graphile',
  'pg-boss',
  'bullmq-redis',
  'bullmq-redis-always',
  'bullmq-pg',
];

export const WORKERS = [
  'longshore',
  'graphile',
  'graphile-docs',
  'graphile-max',
  'pg-boss',
  'bullmq-redis',
  'bullmq-redis-always',
  'bullmq-pg',
];

/** Those that a property of PostgreSQL can hurt. */
export const ON_POSTGRES = WORKERS.filter((name) => !name.startsWith('bullmq-redis'));
