import { CONCURRENCY_LIMIT_MAX } from '../../../../src/core/queue/limits.ts';
import { TENANT_WEIGHT_MAX } from '../../../../src/core/views/key-view.ts';

export { tenantLimit, tenantUse, tenantWords } from '../../../../src/core/views/tenant-words.ts';

type Read = { change: { concurrencyLimit: number | null; weight: number } } | { wrong: string };

/** The form of a tenant's limits; an empty limit is none. */
export function readTenantLimits(limit: string, weight: string): Read {
  const most = limit.trim() === '' ? null : wholeOf(limit, CONCURRENCY_LIMIT_MAX);
  const share = wholeOf(weight, TENANT_WEIGHT_MAX);
  if (most === undefined) {
    return {
      wrong: `Jobs at a time must be empty, or a whole number from 1 to ${CONCURRENCY_LIMIT_MAX}.`,
    };
  }
  if (share === undefined) {
    return { wrong: `The weight must be a whole number from 1 to ${TENANT_WEIGHT_MAX}.` };
  }
  return { change: { concurrencyLimit: most, weight: share } };
}

function wholeOf(text: string, max: number): number | undefined {
  const value = Number(text.trim());
  return /^\d+$/.test(text.trim()) && value >= 1 && value <= max ? value : undefined;
}
