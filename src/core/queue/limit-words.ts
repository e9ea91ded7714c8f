import { duration } from '../values/duration.ts';
import type { Limits, RateLimit } from './limits.ts';

export function limitWords(limit: number | RateLimit | null): string {
  if (limit === null || limit === 0) return 'no limit';
  if (typeof limit === 'number') return String(limit);
  const burst = limit.burst === limit.limit ? '' : `, ${limit.burst} at once`;
  return `${limit.limit} in ${duration(limit.perMs)}${burst}`;
}

/** All limits in one line; empty if there are none. */
export function limitsLine(limits: Limits): string {
  const { concurrencyLimit, concurrencyKeyLimit, rateLimit, keyRateLimit } = limits;
  return [
    concurrencyLimit === null ? null : `${concurrencyLimit} at a time`,
    concurrencyKeyLimit === null ? null : `${concurrencyKeyLimit} per key`,
    rateLimit === null ? null : limitWords(rateLimit),
    keyRateLimit === null ? null : `${limitWords(keyRateLimit)} per key`,
  ]
    .filter((words) => words !== null)
    .join(', ');
}
