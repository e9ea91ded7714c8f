import { z } from 'zod';
import { BULK_ACTIONS, BULK_STATUSES, type BulkView } from '../../core/job/bulk.ts';
import { RETRY_MODES } from '../../core/failure/retry.ts';
import { JobAnswer } from './job-answer.ts';

const Moment = z.iso.datetime();
const matched = z.int().describe('How many jobs matched when it was asked for.');
const matchedIsExact = z
  .boolean()
  .describe('False: there were more than were counted. The action itself has no such bound.');

export const BulkIdParams = z.object({
  bulkId: z
    .string()
    .describe('The id that POST /v1/bulk answered.')
    .meta({ examples: ['0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400'] }),
});

export const BulkAnswer = z
  .looseObject({
    bulkId: z.string(),
    action: z.enum(BULK_ACTIONS),
    status: z.enum(BULK_STATUSES),
    filter: z.looseObject({}).describe('Which jobs it is about.'),
    mode: z.enum(RETRY_MODES).nullable().describe('Of a retry.'),
    ratePerSecond: z.number().nullable(),
    matched,
    matchedIsExact,
    done: z.int().describe('How many it has changed so far.'),
    skipped: z.int().describe('How many had moved on before it came to them.'),
    failed: z.int().describe('How many could not be changed.'),
    note: z.string().nullable().describe('Why the last of these could not.'),
    createdAt: Moment.describe('Nothing that was made, or ended, after this is touched.'),
    finishedAt: Moment.nullable(),
  })
  .meta({
    id: 'Bulk',
    description: 'One thing done to many jobs, and how far it has come.',
  }) satisfies z.ZodType<BulkView>;

export const BulkPageAnswer = z.looseObject({
  bulks: z.array(BulkAnswer),
  nextCursor: z.string().nullable().describe('Ask with it for the next page; null at the end.'),
});

export const BulkPreviewAnswer = z.looseObject({
  action: z.enum(BULK_ACTIONS),
  matched,
  matchedIsExact,
  sample: z.array(JobAnswer).describe('Some of them, the oldest first.'),
});
