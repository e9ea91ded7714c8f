import type { ClaimedJob } from './claim.ts';
import type { Lane } from './lanes.ts';

/**
 * A worker in the same process that may take a new job straight away, without the job ever waiting in
 * its line. That is only fair while nothing better waits: the worker grants a slot only if it has
 * seen the job's line and all better ones empty, and heard of no new work since.
 */
export interface HandOver {
  /** Reserves a slot; answers with the worker instance, or null when the job should wait in line. */
  reserve(lane: Lane, rank: number): string | null;
  /** The job was stored as running: start it. Uses the reservation up. */
  begin(lane: Lane, job: ClaimedJob): void;
  /** The job was not stored that way: the slot is free again. */
  release(): void;
}
