import { canaryVerdict } from './canary.ts';

/** The jobs of one version of a definition. */
export interface VersionCounts {
  /** Now: held, scheduled, queued or between two attempts. */
  waiting: number;
  running: number;
  /** Since it was deployed, with jobs that were deleted since. A retried job may count twice. */
  succeeded: number;
  failed: number;
  /** Attempts that ended, and those of them that failed. */
  attempts: number;
  failedAttempts: number;
}

export interface VersionJobs extends VersionCounts {
  version: number;
  /** Failed attempts of all that ended, from 0 to 1; null if none ended. */
  failureRate: number | null;
}

/** The jobs of a definition with this deployment, and with the version before. */
export interface DefinitionJobs {
  key: string;
  now: VersionJobs;
  /** Null: there is none. */
  before: VersionJobs | null;
  /** Why its attempts fail clearly more often than before; null if they do not. */
  worse: string | null;
}

const NONE: VersionCounts = {
  waiting: 0,
  running: 0,
  succeeded: 0,
  failed: 0,
  attempts: 0,
  failedAttempts: 0,
};

export function versionJobs(version: number, counts: VersionCounts = NONE): VersionJobs {
  const { attempts, failedAttempts } = counts;
  return { version, ...counts, failureRate: attempts === 0 ? null : failedAttempts / attempts };
}

export function definitionJobs(
  key: string,
  now: VersionJobs,
  before: VersionJobs | null,
): DefinitionJobs {
  const attempts = (of: VersionJobs) => ({ ended: of.attempts, failed: of.failedAttempts });
  const worse = before && canaryVerdict(attempts(now), attempts(before), 'the version before');
  return { key, now, before, worse };
}

/** The version that new jobs of a definition had before this one, as far as releases know. */
export function releasedBefore(
  number: number,
  release: { current: number; previous: number | null; canary: number | null } | undefined,
): number | null {
  if (release?.canary === number) return release.current;
  return release?.current === number ? release.previous : null;
}
