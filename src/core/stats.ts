import { emptyCounts, type Quantiles, quantilesMs } from './histogram.ts';
import { JOB_STATES, type JobState } from './job.ts';
import { MINUTE_MS } from './duration.ts';

/** How the queues are doing, as `GET /v1/stats` tells it. Nothing is counted for it: see `store/tally-moves`. */
export interface StatsView {
  at: string;
  /** What rates, times and retries look back on. */
  windowMinutes: number;
  /** How many jobs are there now, in each state. */
  totals: StateCounts;
  definitions: DefinitionStats[];
  throughput: Throughput;
}

export type StateCounts = Record<JobState, number>;

export interface DefinitionStats {
  key: string;
  /** Jobs that could run now, and those that do. */
  depth: number;
  running: number;
  states: StateCounts;
  /** How long the oldest job in line has been there; null when none is. */
  oldestAgeMs: number | null;
  /** Of the jobs that succeeded or failed in the window; null when none did. */
  successRate: number | null;
  failureRate: number | null;
  /** How long jobs were in line before an attempt began, and how long attempts took. */
  waitMs: Quantiles;
  runMs: Quantiles;
  /** Attempts in the window that failed and are tried again. */
  retries: number;
}

const THROUGHPUT_COUNTS = [
  'enqueued',
  'started',
  'succeeded',
  'failed',
  'cancelled',
  'retried',
] as const;

export type ThroughputCount = (typeof THROUGHPUT_COUNTS)[number];

/** One number for each minute, the oldest first; the last minute is the one that is not over yet. */
export type Throughput = { from: string; stepMs: number } & Record<ThroughputCount, number[]>;

/** What the store knows, still apart by shard. */
export interface StatsRows {
  at: Date;
  depths: readonly { key: string; state: JobState | null; n: number }[];
  spans: readonly { key: string; state: JobState; bucket: number; n: number }[];
  oldest: readonly { key: string; ageMs: number }[];
  minutes: readonly ({ minute: Date } & Record<ThroughputCount, number>)[];
}

export function statsView(
  rows: StatsRows,
  { windowMinutes, seriesMinutes }: { windowMinutes: number; seriesMinutes: number },
): StatsView {
  const totals = noJobs();
  for (const { state, n } of rows.depths) if (state !== null) totals[state] += n;
  return {
    at: rows.at.toISOString(),
    windowMinutes,
    totals,
    definitions: definitionsOf(rows),
    throughput: throughputOf(rows, seriesMinutes),
  };
}

function noJobs(): StateCounts {
  return Object.fromEntries(JOB_STATES.map((state) => [state, 0])) as StateCounts;
}

function definitionsOf({ depths, spans, oldest }: StatsRows): DefinitionStats[] {
  const byKey = Map.groupBy(depths, ({ key }) => key);
  const spansOf = Map.groupBy(spans, ({ key }) => key);
  const agesOf = Map.groupBy(oldest, ({ key }) => key);
  return [...byKey.keys()].toSorted().map((key) => {
    const states = noJobs();
    for (const { state, n } of byKey.get(key) ?? []) if (state !== null) states[state] += n;
    const ages = (agesOf.get(key) ?? []).map(({ ageMs }) => ageMs);
    return {
      key,
      depth: states.queued,
      running: states.running + states.cancelling,
      states,
      oldestAgeMs: ages.length === 0 ? null : Math.max(0, Math.round(Math.max(...ages))),
      ...recentOf(spansOf.get(key) ?? []),
    };
  });
}

/** An attempt that begins has waited; whatever else is counted by its time has run, or never did. */
function recentOf(spans: StatsRows['spans']) {
  const wait = emptyCounts();
  const run = emptyCounts();
  const ended = { succeeded: 0, failed: 0, retrying: 0 };
  for (const { state, bucket, n } of spans) {
    const counts = state === 'running' ? wait : run;
    if (bucket >= 0) counts[bucket] = (counts[bucket] ?? 0) + n;
    if (state in ended) ended[state as keyof typeof ended] += n;
  }
  const { succeeded, failed, retrying } = ended;
  const judged = succeeded + failed;
  return {
    successRate: judged === 0 ? null : succeeded / judged,
    failureRate: judged === 0 ? null : failed / judged,
    waitMs: quantilesMs(wait),
    runMs: quantilesMs(run),
    retries: retrying,
  };
}

function throughputOf({ at, minutes }: StatsRows, seriesMinutes: number): Throughput {
  const thisMinuteMs = Math.floor(at.getTime() / MINUTE_MS) * MINUTE_MS;
  const fromMs = thisMinuteMs - (seriesMinutes - 1) * MINUTE_MS;
  const series = Object.fromEntries(
    THROUGHPUT_COUNTS.map((name) => [name, Array.from({ length: seriesMinutes }, () => 0)]),
  ) as Record<ThroughputCount, number[]>;
  for (const row of minutes) {
    const place = (row.minute.getTime() - fromMs) / MINUTE_MS;
    if (place < 0 || place >= seriesMinutes) continue;
    for (const name of THROUGHPUT_COUNTS) {
      series[name][place] = (series[name][place] ?? 0) + row[name];
    }
  }
  return { from: new Date(fromMs).toISOString(), stepMs: MINUTE_MS, ...series };
}
