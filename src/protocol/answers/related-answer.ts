import { z } from 'zod';
import type { OutcomesView } from '../../core/dependency/outcomes.ts';
import type { RelatedJobs } from '../../core/dependency/related.ts';
import { JOB_STATES, TERMINAL_STATES } from '../../core/job/job.ts';
import { JobErrorAnswer } from './job-answer.ts';

const RelatedJob = z.looseObject({
  jobId: z.string(),
  definitionKey: z.string().nullable().describe('Null if the job is deleted.'),
  status: z
    .enum(JOB_STATES)
    .nullable()
    .describe('State of the job; of a deleted one, how it ended, if that is known.'),
});

export const RelatedAnswer = z.looseObject({
  parents: z.array(RelatedJob).describe('Jobs that it was enqueued after, in that order.'),
  followers: z.array(RelatedJob).describe('Jobs that were enqueued after it, oldest first.'),
  moreFollowers: z.boolean().describe('Whether there are more followers than these.'),
  spawnedBy: RelatedJob.nullable().describe('Job that has spawned it.'),
  children: z
    .array(RelatedJob)
    .describe('Jobs that it has spawned, in the order in which they were stored; at most 200.'),
  childrenTotal: z.int().describe('Number of its children.'),
  childrenOpen: z.int().describe('Number of its children that have not ended.'),
  childrenEnded: z
    .object({ succeeded: z.int(), failed: z.int(), cancelled: z.int() })
    .describe('Number of its children that ended so.'),
  failedChildren: z
    .array(RelatedJob)
    .describe('The first of all its children that failed; at most 20.'),
}) satisfies z.ZodType<RelatedJobs>;

const Outcome = z.looseObject({
  jobId: z.string(),
  status: z.enum(TERMINAL_STATES).nullable().describe('How it ended; null if it has not ended.'),
  result: z.unknown().describe('Return value; null unless it succeeded and is still stored.'),
  largeResult: z
    .looseObject({ bytes: z.int().describe('Size of the JSON.') })
    .optional()
    .describe('Only if the result is large: then result is null.'),
  error: JobErrorAnswer.nullable(),
  omitted: z
    .literal(true)
    .optional()
    .describe('There was no room for its result and its error; the job itself has them.'),
});

export const OutcomesAnswer = z.looseObject({
  parents: z.array(Outcome).describe('Parents that have ended, in the order of the caller.'),
  children: z
    .array(
      Outcome.extend({
        name: z.string().describe('Its name among the children, or its place, like #1.'),
        asked: z.string().describe('Hash of its definition and params.'),
      }),
    )
    .describe('In the order in which they were spawned.'),
  complete: z.boolean().describe('False when results of more than 8 MB are left out.'),
}) satisfies z.ZodType<OutcomesView>;
