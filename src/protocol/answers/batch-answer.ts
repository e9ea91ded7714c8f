import { z } from 'zod';
import { BATCH_STATUSES, type BatchJob, type BatchView } from '../../core/batch/batch.ts';
import { JOB_STATES } from '../../core/job/job.ts';

/** A batch: jobs that end together. */
export const BatchViewAnswer = z.looseObject({
  id: z.string().describe('Id of the batch, which is that of its job.'),
  name: z.string().nullable(),
  status: z
    .enum(BATCH_STATUSES)
    .describe(
      'open: it accepts jobs; running: it is closed and has jobs that have not ended; ' +
        'cancelling: it is cancelled and has jobs that have not ended.',
    ),
  total: z.int().describe('Number of its jobs.'),
  pending: z.int().describe('Jobs that have not ended.'),
  succeeded: z.int(),
  failed: z.int(),
  cancelled: z.int(),
  onComplete: z.string().nullable().describe('Id of the job that runs when all have ended.'),
  onSuccess: z.string().nullable().describe('Id of the job that runs when all have succeeded.'),
  createdAt: z.string(),
  closedAt: z.string().nullable().describe('When it stopped accepting jobs.'),
  endedAt: z.string().nullable(),
}) satisfies z.ZodType<BatchView>;

const BatchJobAnswer = z.looseObject({
  jobId: z.string(),
  definitionKey: z.string().nullable().describe('Null if the job is deleted.'),
  status: z
    .enum(JOB_STATES)
    .nullable()
    .describe('State of the job; of a deleted one, how it ended.'),
  position: z.int().describe('Its place in the batch, from 0.'),
}) satisfies z.ZodType<BatchJob>;

export const BatchesAnswer = z.looseObject({
  batches: z.array(BatchViewAnswer).describe('Newest first.'),
  nextCursor: z.string().nullable(),
});

export const BatchJobsAnswer = z.looseObject({
  jobs: z.array(BatchJobAnswer).describe('In the order in which they were stored.'),
  nextCursor: z.string().nullable(),
});
