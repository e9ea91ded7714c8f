import { z } from 'zod';
import { BULK_ACTIONS, BULK_STATUSES, type BulkView } from '../../core/job/bulk.ts';
import { RETRY_MODES } from '../../core/failure/retry.ts';
import { JobAnswer } from './job-answer.ts';

const Moment = z.iso.datetime();
const matched = z.int().describe('Number of matching jobs at the time of the request.');
const matchedIsExact = z
  .boolean()
  .describe('False: counting stopped early. The action itself applies to all.');

export const BulkIdParams = z.object({
  bulkId: z
    .string()
    .describe('The id returned by POST /v1/bulk.')
    .meta({ examples: ['0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400'] }),
});

export const BulkAnswer = z
  .looseObject({
    bulkId: z.string(),
    action: z.enum(BULK_ACTIONS),
    status: z.enum(BULK_STATUSES),
    filter: z.looseObject({}).describe('The filter of the jobs.'),
    mode: z.enum(RETRY_MODES).nullable().describe('Mode of a retry.'),
    ratePerSecond: z.number().nullable(),
    matched,
    matchedIsExact,
    done: z.int().describe('Number of jobs changed so far.'),
    skipped: z.int().describe('Number of jobs skipped because their state had changed.'),
    failed: z.int().describe('Number of jobs that could not be changed.'),
    note: z.string().nullable().describe('Error of the last failed job.'),
    createdAt: Moment.describe('Jobs created or finished after this are not changed.'),
    finishedAt: Moment.nullable(),
  })
  .meta({
    id: 'Bulk',
    description: 'A bulk action and its progress.',
  }) satisfies z.ZodType<BulkView>;

export const BulkPageAnswer = z.looseObject({
  bulks: z.array(BulkAnswer),
  nextCursor: z.string().nullable().describe('Cursor of the next page; null at the end.'),
});

export const BulkPreviewAnswer = z.looseObject({
  action: z.enum(BULK_ACTIONS),
  matched,
  matchedIsExact,
  sample: z.array(JobAnswer).describe('A sample, oldest first.'),
});
