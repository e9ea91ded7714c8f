import { type Check, ok, warning } from './check.ts';

/** The database was asked for its time; by our clock that was between these two moments. */
export interface ClockFacts {
  beforeMs: number;
  databaseMs: number;
  afterMs: number;
}

const SKEW_MS_MAX = 1_000;

/**
 * An answer on the way for a second proves no skew of a second, so only what lies outside the time
 * of the call counts as one. Above zero the database is ahead.
 */
export function skewMs({ beforeMs, databaseMs, afterMs }: ClockFacts): number {
  if (databaseMs > afterMs) return databaseMs - afterMs;
  return Math.min(0, databaseMs - beforeMs);
}

export function judgeClock(facts: ClockFacts): Check {
  const { beforeMs, databaseMs, afterMs } = facts;
  const skew = skewMs(facts);
  if (Math.abs(skew) <= SKEW_MS_MAX) {
    const apart = Math.max(databaseMs - beforeMs, afterMs - databaseMs);
    return ok('clock', `at most ${Math.ceil(apart)} ms from the database's, which decides`);
  }
  const seconds = (Math.abs(skew) / 1_000).toFixed(1);
  const side = skew > 0 ? 'ahead of' : 'behind';
  return warning(
    'clock',
    `the database's clock is ${seconds} s ${side} this machine's; it decides when jobs are due`,
    'synchronise the clocks of both machines (NTP)',
  );
}
