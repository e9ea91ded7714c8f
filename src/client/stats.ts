import type { SeriesView } from '../core/series/series.ts';
import type { DefinitionStats, StatsView } from '../core/views/stats.ts';

/** Statistics of all queues. */
export type Stats = StatsView;
export type { DefinitionStats };

export interface StatsOptions {
  /** The window for rates, times and retries: 15 to 1440; default 60. */
  windowMinutes?: number | undefined;
  /** The number of minutes of the throughput: 1 to 1440; default 1440. */
  seriesMinutes?: number | undefined;
}

/** What happened over time. */
export type Series = SeriesView;

export interface SeriesOptions {
  /** One definition; default all together. */
  definitionKey?: string | undefined;
  /** How far back from `to`, instead of `from`: up to 44,640, 31 days; default 60. */
  minutes?: number | undefined;
  from?: string | Date | undefined;
  /** Default now. */
  to?: string | Date | undefined;
  /** Whether to include the counts of wait and run times by bucket. */
  histograms?: boolean | undefined;
}
