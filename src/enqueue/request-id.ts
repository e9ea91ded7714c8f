import { timeOfJobId } from '../core/job/job-id.ts';

/** A `requestId` is valid for a day, in both directions: clocks differ. */
export const REQUEST_MS_MAX = 86_400_000;

export function isCurrent(requestId: string, nowMs: number): boolean {
  return Math.abs(nowMs - timeOfJobId(requestId)) <= REQUEST_MS_MAX;
}
