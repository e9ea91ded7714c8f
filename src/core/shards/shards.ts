import type { JobState } from '../job/job.ts';

/** The answer of `GET /v1/shards`: where each shard lives, and its load. Read from counters. */
export interface ShardsView {
  at: string;
  /** The time over which the rates are measured. */
  windowSeconds: number;
  shards: ShardView[];
}

export interface ShardView {
  shard: number;
  /** The database server, such as `10.0.0.5:5432/jobs`; null when the shard did not answer. */
  node: string | null;
  /** Why the shard did not answer; then its numbers are null. */
  problem: string | null;
  /** Jobs that have not ended, by state, hooks and deliveries included. */
  jobs: Record<LiveState, number> | null;
  /** How long the oldest queued job has waited; null when none is queued. */
  oldestAgeMs: number | null;
  /** How late the most overdue scheduled, retrying or suspended job is; 0 when none is. */
  lateMs: number | null;
  /** Jobs per second, without hooks and deliveries. */
  enqueuedPerSecond: number | null;
  endedPerSecond: number | null;
  /** Workers with a lease in this shard, and those without one that were seen within a day. */
  workers: { live: number; dead: number } | null;
}

export const LIVE_STATES = [
  'created',
  'scheduled',
  'queued',
  'running',
  'retrying',
  'suspended',
  'cancelling',
] as const satisfies readonly JobState[];

export type LiveState = (typeof LIVE_STATES)[number];

/** What the store reads of a shard that answers. */
export interface ShardRows {
  host: string | null;
  port: number | null;
  database: string;
  depths: readonly { state: JobState; n: number }[];
  oldestAgeMs: number | null;
  lateMs: number;
  enqueued: number;
  ended: number;
  live: number;
  dead: number;
}

/** A shard that does not answer hides none of the others. */
export type ShardReading = ShardRows | { problem: string };

export function shardsView(
  { at, from }: { at: Date; from: Date },
  readings: readonly ShardReading[],
): ShardsView {
  const windowSeconds = Math.max(1, Math.round((at.getTime() - from.getTime()) / 1_000));
  return {
    at: at.toISOString(),
    windowSeconds,
    shards: readings.map((reading, shard) =>
      'problem' in reading
        ? { ...NO_ANSWER, shard, problem: reading.problem }
        : { shard, ...answered(reading, windowSeconds) },
    ),
  };
}

const NO_ANSWER = {
  node: null,
  jobs: null,
  oldestAgeMs: null,
  lateMs: null,
  enqueuedPerSecond: null,
  endedPerSecond: null,
  workers: null,
};

function answered(rows: ShardRows, windowSeconds: number): Omit<ShardView, 'shard'> {
  // A slow rate is not rounded to zero.
  const perSecond = (jobs: number) => Number((jobs / windowSeconds).toPrecision(3));
  return {
    node: nodeName(rows),
    problem: null,
    jobs: jobsByState(rows.depths),
    oldestAgeMs: rows.oldestAgeMs === null ? null : Math.max(0, Math.round(rows.oldestAgeMs)),
    lateMs: Math.max(0, Math.round(rows.lateMs)),
    enqueuedPerSecond: perSecond(rows.enqueued),
    endedPerSecond: perSecond(rows.ended),
    workers: { live: rows.live, dead: rows.dead },
  };
}

/** Counters are added up later than they are written, so a sum can be below zero for a moment. */
export function jobsByState(depths: ShardRows['depths']): Record<LiveState, number> {
  const of = (state: LiveState) =>
    Math.max(
      0,
      depths.filter((one) => one.state === state).reduce((sum, { n }) => sum + n, 0),
    );
  return Object.fromEntries(LIVE_STATES.map((state) => [state, of(state)])) as Record<
    LiveState,
    number
  >;
}

/** The address as the server sees it. A connection over a socket of the machine has none. */
function nodeName({ host, port, database }: ShardRows): string {
  const name = host === null ? 'local' : host.includes(':') ? `[${host}]` : host;
  return `${name}${port === null ? '' : `:${port}`}/${database}`;
}
