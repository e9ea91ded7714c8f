import type { RateLimit } from './limits.ts';

/** The load of a definition, or of a part of it. */
export interface Load {
  /** Jobs that become due per second. */
  arrivalsPerSecond: number;
  /** The mean time of an attempt; null when none has ended yet. */
  runMs: number | null;
  /** Queued jobs that could run, and how long the oldest has waited; null when none waits. */
  waiting: number;
  oldestAgeMs: number | null;
  running: number;
  /** How many may run at a time; null: no limit. */
  concurrencyLimit: number | null;
  /** How many may start; null: no limit. */
  rateLimit: RateLimit | null;
}

/** In which time a backlog should drain, unless a caller wants another. */
export const TARGET_SECONDS_DEFAULT = 60;

/** The guess while no attempt has ended; for the backlog at least the wait of its oldest job. */
const UNKNOWN_RUN_MS = 1_000;

/**
 * How many slots a load keeps busy: the arrival rate times the run time, and as many as drain the
 * backlog in the target time. A fraction, because definitions share slots. A job never uses more
 * than one slot, and a running job holds its slot.
 */
export function busySlots(load: Load, targetMs: number): number {
  const { running, concurrencyLimit } = load;
  const most = Math.min(concurrencyLimit ?? Infinity, slotsOfRate(load, targetMs));
  return Math.max(running, Math.min(most, freeSlots(load, targetMs)));
}

/** The same as if there were no limits. */
export function freeSlots(load: Load, targetMs: number): number {
  const { arrivalsPerSecond, waiting, oldestAgeMs } = load;
  const runMs = load.runMs ?? UNKNOWN_RUN_MS;
  const drainMs = load.runMs ?? Math.max(UNKNOWN_RUN_MS, oldestAgeMs ?? 0);
  const steady = (arrivalsPerSecond * runMs) / 1_000;
  const backlog = Math.min(waiting, (waiting * drainMs) / targetMs);
  return steady + backlog;
}

/** A rate lets this many start in the target time; each keeps its slot for the run time. */
function slotsOfRate({ rateLimit, runMs }: Load, targetMs: number): number {
  if (rateLimit === null) return Infinity;
  const starts = rateLimit.burst + (rateLimit.limit * targetMs) / rateLimit.perMs;
  return Math.min(starts, (starts * (runMs ?? UNKNOWN_RUN_MS)) / targetMs);
}

/** Whole slots for loads that share them; at least one while a job waits. */
export function wholeSlots(busy: number, isAnyWaiting: boolean): number {
  // Sums of fractions are off by less than this.
  return Math.max(isAnyWaiting ? 1 : 0, Math.ceil(busy - 1e-9));
}
