import type { z } from 'zod';
import { closed, text, wholeInQuery } from '../fields.ts';
import { JobFilterBody } from './job-filter.ts';
import { PAGE_DEFAULT, PAGE_MAX } from './job-query.ts';

const { definitionKey, errorCode, fingerprint, q, finishedAfter, finishedBefore } =
  JobFilterBody.shape;
const window = { definitionKey, errorCode, from: finishedAfter, to: finishedBefore };

/** What `GET /v1/dead-letters` can be asked. */
export const DeadLetterQuery = closed({
  ...window,
  fingerprint,
  q: q.describe(
    'Only jobs with this text in their error message, or in their params, if these are not encrypted. Not all may be looked ' +
      'at for one page: it can be short, and still have a nextCursor.',
  ),
  cursor: text(200).optional().describe('The nextCursor of the page before.'),
  limit: wholeInQuery(1, PAGE_MAX)
    .default(PAGE_DEFAULT)
    .describe(`How many jobs a page holds at most. Default ${PAGE_DEFAULT}.`),
});
export type DeadLetterQuery = z.infer<typeof DeadLetterQuery>;

const GROUPS_MAX = 1_000;
const GROUPS_DEFAULT = 100;
const BUCKETS_MAX = 100;

/** What `GET /v1/dead-letters/groups` can be asked. */
export const DeadLetterGroupQuery = closed({
  ...window,
  q: q.describe(
    'Only dead letters with this text in their error message, or in their params, if these are not ' +
      'encrypted. So many of the newest are looked at; countIsExact and complete say when there may be more.',
  ),
  buckets: wholeInQuery(1, BUCKETS_MAX)
    .optional()
    .describe('Divide the window, from `from` until `to` or now, into so many parts for trends.'),
  limit: wholeInQuery(1, GROUPS_MAX)
    .default(GROUPS_DEFAULT)
    .describe(`How many groups are answered at most. Default ${GROUPS_DEFAULT}.`),
});
export type DeadLetterGroupQuery = z.infer<typeof DeadLetterGroupQuery>;
