import { fnv1a } from '../values/hash.ts';

/** Which deployment the new jobs of a definition get. */
export interface Release {
  /** The owner: `default` for definitions that all tenants share. */
  tenant: string;
  key: string;
  current: number;
  previous: number | null;
  canary: number | null;
  /** The share of new jobs that get the canary. */
  canaryPercent: number | null;
}

/**
 * The version that a new job gets. The seed is the concurrency key if there is one, so that all jobs
 * of a key get the same version. SQL has the same rule: `longshore.released_version`.
 */
export function releasedVersion(
  { current, canary, canaryPercent }: Pick<Release, 'current' | 'canary' | 'canaryPercent'>,
  seed: () => string,
): number {
  if (canary === null || canaryPercent === null) return current;
  return canaryPercent > (fnv1a(seed()) % 10_000) / 100 ? canary : current;
}
