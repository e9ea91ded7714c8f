import { z } from 'zod';
import type { DeadLetterGroup, DeadLetterView } from '../../core/failure/dead-letter.ts';
import { JobAnswer, unsearched } from './job-answer.ts';

const Moment = z.iso.datetime();

const DeadLetterAnswer = JobAnswer.extend({
  fingerprint: z
    .string()
    .nullable()
    .describe('Jobs with the same fingerprint failed with the same error.'),
}).meta({ id: 'DeadLetter', description: 'A failed job.' });
DeadLetterAnswer satisfies z.ZodType<DeadLetterView>;

export const DeadLetterPageAnswer = z.looseObject({
  jobs: z.array(DeadLetterAnswer),
  nextCursor: z.string().nullable().describe('Cursor of the next page; null at the end.'),
  searchedUntil: z.iso
    .datetime()
    .nullable()
    .describe('Time of failure up to which dead letters were searched, when there may be more.'),
  unsearched,
});

const DeadLetterGroupAnswer = z
  .looseObject({
    fingerprint: z.string(),
    code: z.string(),
    message: z.string().describe('Message of the newest job.'),
    cause: z
      .string()
      .nullable()
      .describe('Message of the innermost cause of that error; null if it has none.'),
    count: z.int(),
    countIsExact: z.boolean().describe('False: counting stopped early.'),
    firstSeen: Moment.describe('Its first failure, also of a job that was retried since.'),
    lastSeen: Moment,
    definitionKeys: z.array(z.string()),
    versions: z.array(z.int()),
    jobId: z.string().describe('The newest job.'),
    trend: z.array(z.int()).describe('Count per part of the window, oldest first; see buckets.'),
    definitions: z
      .array(z.looseObject({ definitionKey: z.string(), count: z.int(), trend: z.array(z.int()) }))
      .describe('The same per definition.'),
  })
  .meta({ id: 'DeadLetterGroup', description: 'An error and its frequency.' });
DeadLetterGroupAnswer satisfies z.ZodType<DeadLetterGroup>;

export const DeadLetterGroupsAnswer = z.looseObject({
  groups: z.array(DeadLetterGroupAnswer).describe('Most frequent first.'),
  complete: z.boolean().describe('False: more groups exist.'),
});
