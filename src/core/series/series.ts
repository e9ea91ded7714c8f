import {
  addStored,
  emptyCounts,
  quantileEstimateMs,
  rangeOf,
  type StoredCounts,
} from './histogram.ts';
import { type SeriesPlan, STEPS } from './series-plan.ts';
import { MINUTE_MS } from '../values/duration.ts';
import { THROUGHPUT_COUNTS, type ThroughputCount } from '../views/stats.ts';

/**
 * The answer of `GET /v1/series`: what happened over time, for charts. One number per step, oldest
 * first; the last step may not be over.
 */
export type SeriesView = Record<ThroughputCount, number[]> & {
  at: string;
  /** Null: all definitions of the tenant. */
  definitionKey: string | null;
  from: string;
  to: string;
  stepMs: number;
  /** The largest number of queued jobs, of those at the ends of stored slots; the last: at the end. */
  depth: number[];
  waitMs: Percentiles;
  runMs: Percentiles;
  /** Of the whole range. */
  whole: { waitMs: WholePercentiles; runMs: WholePercentiles; depthMax: number };
  /** Null unless asked for. */
  histograms: { wait: SeriesHistogram; run: SeriesHistogram } | null;
};

/** Estimates in milliseconds; null for a step without values. */
export interface Percentiles {
  p50: (number | null)[];
  p95: (number | null)[];
  p99: (number | null)[];
}

/** Estimates in milliseconds; null without values. */
export type WholePercentiles = Record<keyof Percentiles, number | null>;

/** How many times were in each bucket: a list per step. Empty buckets at both ends are left out. */
export interface SeriesHistogram {
  buckets: { from: number; to: number | null }[];
  counts: number[][];
}

export type SeriesSlot = {
  slot: Date;
  deeper: number;
  waited: StoredCounts;
  ran: StoredCounts;
} & Record<ThroughputCount, number>;

/** Of one shard: the slots in order, and the depth at their end. */
export interface SeriesRows {
  depthAtEnd: number;
  slots: readonly SeriesSlot[];
  /** The depth in the shortest slots that are kept, where `slots` are longer. */
  depths?: DepthRows;
}

/** Read at another time than `slots`, so it has its own depth at the end. */
export interface DepthRows {
  depthAtEnd: number;
  changes: readonly Pick<SeriesSlot, 'slot' | 'deeper'>[];
}

export function seriesView(
  shards: readonly SeriesRows[],
  plan: SeriesPlan,
  {
    at,
    definitionKey,
    histograms,
  }: { at: Date; definitionKey: string | null; histograms: boolean },
): SeriesView {
  const { fromMs, toMs, stepMs } = plan;
  const length = (toMs - fromMs) / stepMs;
  const slots = shards.flatMap((shard) => shard.slots);
  const stepOf = ({ slot }: SeriesSlot) => Math.floor((slot.getTime() - fromMs) / stepMs);
  const wait = Array.from({ length }, emptyCounts);
  const run = Array.from({ length }, emptyCounts);
  const counts = Object.fromEntries(
    THROUGHPUT_COUNTS.map((name) => [name, Array.from({ length }, () => 0)]),
  ) as Record<ThroughputCount, number[]>;
  for (const one of slots) {
    const step = stepOf(one);
    for (const name of THROUGHPUT_COUNTS) add(counts[name], step, one[name]);
    addStored(wait[step] ?? [], one.waited);
    addStored(run[step] ?? [], one.ran);
  }
  const { depth, depthMax } = depthsOf(shards, plan);
  return {
    at: at.toISOString(),
    definitionKey,
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    stepMs,
    ...counts,
    depth,
    waitMs: percentilesOf(wait),
    runMs: percentilesOf(run),
    whole: { waitMs: wholeOf(wait), runMs: wholeOf(run), depthMax },
    histograms: histograms ? { wait: histogramOf(wait), run: histogramOf(run) } : null,
  };
}

function add(sums: number[], at: number, n: number): void {
  if (at in sums) sums[at] = (sums[at] ?? 0) + n;
}

/** A slot without a row has the depth of the one before. The last point is the depth at the end. */
function depthsOf(
  shards: readonly SeriesRows[],
  plan: SeriesPlan,
): { depth: number[]; depthMax: number } {
  const slotMs = Math.min(...STEPS.map(({ minutes }) => minutes)) * MINUTE_MS;
  const changes = new Map<number, number>();
  let depth = 0;
  for (const { slots, ...shard } of shards) {
    const { depthAtEnd, changes: all } = shard.depths ?? { ...shard, changes: slots };
    depth += depthAtEnd;
    for (const { slot, deeper } of all) {
      depth -= deeper;
      changes.set(slot.getTime(), (changes.get(slot.getTime()) ?? 0) + deeper);
    }
  }
  const depths: number[] = [];
  for (let step = plan.fromMs; step < plan.toMs; step += plan.stepMs) {
    let most = 0;
    for (let slot = step; slot < step + plan.stepMs; slot += slotMs) {
      depth += changes.get(slot) ?? 0;
      most = Math.max(most, depth);
    }
    depths.push(most);
  }
  const depthMax = Math.max(0, ...depths);
  return { depth: [...depths.slice(0, -1), Math.max(0, depth)], depthMax };
}

function percentilesOf(steps: readonly number[][]): Percentiles {
  const of = (share: number) => steps.map((counts) => estimate(counts, share));
  return { p50: of(0.5), p95: of(0.95), p99: of(0.99) };
}

function wholeOf(steps: readonly number[][]): WholePercentiles {
  const sums = sumsOf(steps);
  return { p50: estimate(sums, 0.5), p95: estimate(sums, 0.95), p99: estimate(sums, 0.99) };
}

function estimate(counts: readonly number[], share: number): number | null {
  const ms = quantileEstimateMs(counts, share);
  return ms === null ? null : Math.round(ms * 10) / 10;
}

function sumsOf(steps: readonly number[][]): number[] {
  return emptyCounts().map((_, bucket) =>
    steps.reduce((sum, counts) => sum + (counts[bucket] ?? 0), 0),
  );
}

function histogramOf(steps: readonly number[][]): SeriesHistogram {
  const sums = sumsOf(steps);
  const first = sums.findIndex((n) => n > 0);
  if (first < 0) return { buckets: [], counts: steps.map(() => []) };
  const end = sums.findLastIndex((n) => n > 0) + 1;
  return {
    buckets: Array.from({ length: end - first }, (_, at) => rangeOf(first + at)),
    counts: steps.map((counts) => counts.slice(first, end)),
  };
}
