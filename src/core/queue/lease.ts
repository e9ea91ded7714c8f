/**
 * The rules of leases where workers also beat in Redis. The lease in the database is what counts:
 * nobody takes a job from a worker before it is over. A beat only says something about how likely
 * the worker is to be alive, and Redis may be gone, emptied, frozen or wrong at any time.
 */

export interface BeatTiming {
  /** How often a worker beats for each job that it runs. */
  everyMs: number;
  /** How long a beat is remembered. */
  ttlMs: number;
}

export const BEAT_TIMING: BeatTiming = { everyMs: 10_000, ttlMs: 30_000 };

/** What a worker sees of its own lease when it only looks. */
export interface LeaseSeen {
  leaseLeftMs: number;
  /** Somebody missed this worker's beats. */
  suspected: boolean;
}

/** Each third of a long lease; or at once, to show whoever suspects this worker that it is alive. */
export function mustRenew({ leaseLeftMs, suspected }: LeaseSeen, longLeaseMs: number): boolean {
  return suspected || leaseLeftMs < (longLeaseMs * 2) / 3;
}

/** A worker, and some of the jobs for which it should be beating. */
export interface BeatSample {
  worker: string;
  jobIds: string[];
}

/** Those with a beat of their own on at least one job: a beat of another worker proves nothing. */
export function beatingWorkers(
  samples: readonly BeatSample[],
  owners: ReadonlyMap<string, string | null>,
): Set<string> {
  const beating = samples.filter(({ worker, jobIds }) =>
    jobIds.some((id) => owners.get(id) === worker),
  );
  return new Set(beating.map(({ worker }) => worker));
}
