import { type Check, ok, warning } from './check.ts';

/** Time of the database, and our time before and after the query. */
export interface ClockFacts {
  beforeMs: number;
  databaseMs: number;
  afterMs: number;
}

const SKEW_MS_MAX = 1_000;

/**
 * Only an offset outside of the duration of the query counts as skew. Positive: the database is
 * ahead.
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
    return ok('clock', `at most ${Math.ceil(apart)} ms off the database clock`);
  }
  const seconds = (Math.abs(skew) / 1_000).toFixed(1);
  const side = skew > 0 ? 'ahead of' : 'behind';
  return warning(
    'clock',
    `the database clock, which decides when jobs are due, is ${seconds} s ${side} this machine's`,
    'synchronise the clocks of both machines (NTP)',
  );
}
