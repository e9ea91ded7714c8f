import { isJobId } from '../../core/job/job-id.ts';
import { Refusal } from '../../protocol/refusal.ts';

/** An id that cannot be one is answered like one that is not there: to a caller it is the same. */
export function wellFormed(jobId: string): string {
  return isJobId(jobId) ? jobId : noSuchJob(jobId);
}

export function noSuchJob(jobId: string): never {
  throw new Refusal('NOT_FOUND', `there is no job ${JSON.stringify(jobId.slice(0, 60))}`);
}
