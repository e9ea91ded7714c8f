import type { DefinitionStats, StatsView } from '../core/views/stats.ts';

/** The figures of all queues, as the server tells them. */
export type Stats = StatsView;
export type { DefinitionStats };

export interface StatsOptions {
  /** What rates, times and retries look back on: 15 to 1440; default 60. */
  windowMinutes?: number | undefined;
  /** How many minutes the throughput has: 1 to 1440, which is the default. */
  seriesMinutes?: number | undefined;
}
