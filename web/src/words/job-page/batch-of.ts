import { BATCH_KEY } from '../../../../src/core/batch/batch.ts';
import type { RelatedJobs } from '../../../../src/core/dependency/related.ts';
import type { JobView } from '../../../../src/core/job/job.ts';

/** The batch that a job belongs to, and how. */
export interface BatchOf {
  batchId: string;
  words: 'View batch' | 'Job of a batch' | 'Runs after a batch';
}

export function batchOf(
  { jobId, definitionKey }: Pick<JobView, 'jobId' | 'definitionKey'>,
  related: Pick<RelatedJobs, 'spawnedBy' | 'parents'> | undefined,
): BatchOf | null {
  if (definitionKey === BATCH_KEY) return { batchId: jobId, words: 'View batch' };
  const { spawnedBy = null, parents = [] } = related ?? {};
  if (spawnedBy?.definitionKey === BATCH_KEY) {
    return { batchId: spawnedBy.jobId, words: 'Job of a batch' };
  }
  const parent = parents.find((one) => one.definitionKey === BATCH_KEY);
  return parent ? { batchId: parent.jobId, words: 'Runs after a batch' } : null;
}
