import type { TenantView } from './key-view.ts';

type Limited = Pick<TenantView, 'tenant' | 'concurrencyLimit' | 'inUse' | 'weight'>;

/** Running jobs are counted only under a limit. */
export function tenantUse({ concurrencyLimit, inUse }: Limited): string {
  return concurrencyLimit === null ? '-' : String(inUse);
}

export function tenantLimit({ concurrencyLimit }: Limited): string {
  return concurrencyLimit === null ? '-' : String(concurrencyLimit);
}

/** Such as "acme: at most 4 jobs at a time, weight 1". */
export function tenantWords({ tenant, concurrencyLimit, weight }: Limited): string {
  const jobs = concurrencyLimit === 1 ? '1 job' : `${concurrencyLimit} jobs`;
  const most = concurrencyLimit === null ? 'no limit' : `at most ${jobs} at a time`;
  return `${tenant}: ${most}, weight ${weight}`;
}
