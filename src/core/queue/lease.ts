/**
 * Rules of leases when workers also send heartbeats to Redis. The lease in the database decides: no
 * job is taken from a worker before its lease expires. A Redis heartbeat only hints that the worker
 * is alive; Redis may be down, emptied, frozen or wrong at any time.
 */

export interface BeatTiming {
  /** The interval of heartbeats for each running job. */
  everyMs: number;
  /** How long Redis keeps a heartbeat. */
  ttlMs: number;
}

export const BEAT_TIMING: BeatTiming = { everyMs: 10_000, ttlMs: 30_000 };

/** What a worker reads of its own lease without renewing it. */
export interface LeaseSeen {
  leaseLeftMs: number;
  /** A scheduler missed heartbeats of this worker. */
  suspected: boolean;
}

/** Each third of a long lease; or at once when suspected, to prove that the worker is alive. */
export function mustRenew({ leaseLeftMs, suspected }: LeaseSeen, longLeaseMs: number): boolean {
  return suspected || leaseLeftMs < (longLeaseMs * 2) / 3;
}

/** A worker and some of the jobs for which it should send heartbeats. */
export interface BeatSample {
  worker: string;
  jobIds: string[];
}

/**
 * The workers with a heartbeat of their own on at least one job. Heartbeats of another worker do
 * not count.
 */
export function beatingWorkers(
  samples: readonly BeatSample[],
  owners: ReadonlyMap<string, string | null>,
): Set<string> {
  const beating = samples.filter(({ worker, jobIds }) =>
    jobIds.some((id) => owners.get(id) === worker),
  );
  return new Set(beating.map(({ worker }) => worker));
}
