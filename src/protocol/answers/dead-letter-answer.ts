import { z } from 'zod';
import type { DeadLetterGroup, DeadLetterView } from '../../core/failure/dead-letter.ts';
import { JobAnswer } from './job-answer.ts';

const Moment = z.iso.datetime();

const DeadLetterAnswer = JobAnswer.extend({
  fingerprint: z.string().nullable().describe('Jobs with the same one failed by one mistake.'),
}).meta({ id: 'DeadLetter', description: 'A failed job.' });
DeadLetterAnswer satisfies z.ZodType<DeadLetterView>;

export const DeadLetterPageAnswer = z.looseObject({
  jobs: z.array(DeadLetterAnswer),
  nextCursor: z.string().nullable().describe('Ask with it for the next page; null at the end.'),
});

const DeadLetterGroupAnswer = z
  .looseObject({
    fingerprint: z.string(),
    code: z.string(),
    message: z.string().describe('Of the newest of them.'),
    count: z.int(),
    countIsExact: z.boolean().describe('False: there are more than were counted.'),
    firstSeen: Moment,
    lastSeen: Moment,
    definitionKeys: z.array(z.string()),
    versions: z.array(z.int()),
    jobId: z.string().describe('The newest of them.'),
    trend: z
      .array(z.int())
      .describe('How many fell into each part of the window, the oldest first; see buckets.'),
    definitions: z
      .array(z.looseObject({ definitionKey: z.string(), count: z.int(), trend: z.array(z.int()) }))
      .describe('The same for each of its definitions.'),
  })
  .meta({ id: 'DeadLetterGroup', description: 'One mistake, and how often it was made.' });
DeadLetterGroupAnswer satisfies z.ZodType<DeadLetterGroup>;

export const DeadLetterGroupsAnswer = z.looseObject({
  groups: z.array(DeadLetterGroupAnswer).describe('The most frequent first.'),
  complete: z.boolean().describe('False: there are more groups than these.'),
});
