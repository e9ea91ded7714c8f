import {
  addStored,
  emptyCounts,
  type Quantiles,
  quantilesMs,
  type StoredCounts,
} from '../series/histogram.ts';
import { JOB_STATES, type JobState } from '../job/job.ts';
import { MINUTE_MS } from '../values/duration.ts';

/**
 * The answer of `GET /v1/stats`. It reads counters instead of counting jobs: see
 * `store/counters/counter-moves`.
 */
export interface StatsView {
  at: string;
  /** The requested window of rates, times and retries, and its real start. */
  windowMinutes: number;
  windowFrom: string;
  /** The number of jobs in each state. */
  totals: StateCounts;
  definitions: DefinitionStats[];
  throughput: Throughput;
}

export type StateCounts = Record<JobState, number>;

export interface DefinitionStats {
  key: string;
  /** Queued jobs and running jobs. */
  depth: number;
  running: number;
  states: StateCounts;
  /** The wait of the oldest queued job, and its id; null when none is queued. */
  oldestAgeMs: number | null;
  oldestJobId: string | null;
  /** Queued jobs of versions that no live worker has loaded; null when there are none. */
  unserved: Unserved | null;
  /** Of the jobs that succeeded or failed in the window; null when there were none. */
  successRate: number | null;
  failureRate: number | null;
  /** How long jobs were queued before an attempt started, and how long attempts took. */
  waitMs: Quantiles;
  runMs: Quantiles;
  /** Attempts in the window that failed and are retried. */
  retries: number;
}

export interface Unserved {
  depth: number;
  oldestAgeMs: number;
  oldestJobId: string;
}

export const THROUGHPUT_COUNTS = [
  'enqueued',
  'started',
  'succeeded',
  'failed',
  'cancelled',
  'retried',
] as const;

export type ThroughputCount = (typeof THROUGHPUT_COUNTS)[number];

/** One number per minute, oldest first; the last minute is not over yet. */
export type Throughput = { from: string; stepMs: number } & Record<ThroughputCount, number[]>;

/** The oldest queued job of a version, and whether a live worker has that version loaded. */
export interface OldestJob {
  key: string;
  version: number;
  ageMs: number;
  jobId: string;
  served: boolean;
}

/** What became of the jobs of a definition in a part of the window. */
export interface RecentSlot {
  key: string;
  succeeded: number;
  failed: number;
  retried: number;
  waited: StoredCounts;
  ran: StoredCounts;
}

/** The rows of the store, per shard. */
export interface StatsRows {
  at: Date;
  depths: readonly { key: string; version: number; state: JobState | null; n: number }[];
  recent: readonly RecentSlot[];
  oldest: readonly OldestJob[];
  minutes: readonly ({ minute: Date } & Record<ThroughputCount, number>)[];
}

export function statsView(
  rows: StatsRows,
  {
    windowMinutes,
    seriesMinutes,
    unservedAfterMs,
  }: { windowMinutes: number; seriesMinutes: number; unservedAfterMs: number },
): StatsView {
  const totals = noJobs();
  for (const { state, n } of rows.depths) if (state !== null) totals[state] += n;
  return {
    at: rows.at.toISOString(),
    windowMinutes,
    windowFrom: windowFrom(rows.at, windowMinutes).toISOString(),
    totals,
    definitions: definitionsOf(rows, unservedAfterMs),
    throughput: throughputOf(rows, seriesMinutes),
  };
}

function noJobs(): StateCounts {
  return Object.fromEntries(JOB_STATES.map((state) => [state, 0])) as StateCounts;
}

/**
 * Times are stored in slots of a quarter of an hour; the first slot that counts contains the start.
 */
const SLOT_MS = 15 * MINUTE_MS;

export function windowFrom(at: Date, windowMinutes: number): Date {
  return new Date(Math.floor((at.getTime() - windowMinutes * MINUTE_MS) / SLOT_MS) * SLOT_MS);
}

function definitionsOf(
  { depths, recent, oldest }: StatsRows,
  unservedAfterMs: number,
): DefinitionStats[] {
  const byKey = Map.groupBy(depths, ({ key }) => key);
  const recentOf = Map.groupBy(recent, ({ key }) => key);
  const oldestOf = Map.groupBy(oldest, ({ key }) => key);
  return [...byKey.keys()].toSorted().map((key) => {
    const states = noJobs();
    for (const { state, n } of byKey.get(key) ?? []) if (state !== null) states[state] += n;
    const heads = oldestOf.get(key) ?? [];
    const first = oldestIn(heads);
    return {
      key,
      depth: states.queued,
      running: states.running + states.cancelling,
      states,
      oldestAgeMs: first ? ageOf(first) : null,
      oldestJobId: first?.jobId ?? null,
      unserved: unservedOf(heads, byKey.get(key) ?? [], unservedAfterMs),
      ...ratesOf(recentOf.get(key) ?? []),
    };
  });
}

function oldestIn(heads: readonly OldestJob[]): OldestJob | undefined {
  return heads.toSorted((a, b) => b.ageMs - a.ageMs)[0];
}

function ageOf({ ageMs }: OldestJob): number {
  return Math.max(0, Math.round(ageMs));
}

/**
 * Only jobs that have waited long enough count, with all behind them: a deploy may be under way.
 */
function unservedOf(
  heads: readonly OldestJob[],
  depths: StatsRows['depths'],
  unservedAfterMs: number,
): Unserved | null {
  const unserved = heads.filter(({ served, ageMs }) => !served && ageMs >= unservedAfterMs);
  const first = oldestIn(unserved);
  if (!first) return null;
  const versions = new Set(unserved.map(({ version }) => version));
  const depth = depths
    .filter(({ version, state }) => state === 'queued' && versions.has(version))
    .reduce((sum, { n }) => sum + n, 0);
  // Counters lag a moment behind the rows.
  return { depth: Math.max(1, depth), oldestAgeMs: ageOf(first), oldestJobId: first.jobId };
}

function ratesOf(slots: readonly RecentSlot[]) {
  const wait = emptyCounts();
  const run = emptyCounts();
  let [succeeded, failed, retries] = [0, 0, 0];
  for (const slot of slots) {
    addStored(wait, slot.waited);
    addStored(run, slot.ran);
    succeeded += slot.succeeded;
    failed += slot.failed;
    retries += slot.retried;
  }
  const judged = succeeded + failed;
  return {
    successRate: judged === 0 ? null : succeeded / judged,
    failureRate: judged === 0 ? null : failed / judged,
    waitMs: quantilesMs(wait),
    runMs: quantilesMs(run),
    retries,
  };
}

function throughputOf({ at, minutes }: StatsRows, seriesMinutes: number): Throughput {
  const thisMinuteMs = Math.floor(at.getTime() / MINUTE_MS) * MINUTE_MS;
  const fromMs = thisMinuteMs - (seriesMinutes - 1) * MINUTE_MS;
  const series = Object.fromEntries(
    THROUGHPUT_COUNTS.map((name) => [name, Array.from({ length: seriesMinutes }, () => 0)]),
  ) as Record<ThroughputCount, number[]>;
  for (const row of minutes) {
    const index = (row.minute.getTime() - fromMs) / MINUTE_MS;
    if (index < 0 || index >= seriesMinutes) continue;
    for (const name of THROUGHPUT_COUNTS) {
      series[name][index] = (series[name][index] ?? 0) + row[name];
    }
  }
  return { from: new Date(fromMs).toISOString(), stepMs: MINUTE_MS, ...series };
}
