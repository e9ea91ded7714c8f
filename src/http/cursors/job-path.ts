import { isJobId } from '../../core/job/job-id.ts';
import { Refusal } from '../../protocol/refusal.ts';

/** A malformed id gets the same 404 as an unknown one. */
export function wellFormed(jobId: string): string {
  return isJobId(jobId) ? jobId : noSuchJob(jobId);
}

export function noSuchJob(jobId: string): never {
  throw new Refusal('NOT_FOUND', `job ${JSON.stringify(jobId.slice(0, 60))} not found`);
}
