import type { z } from 'zod';
import { closed, text, wholeInQuery } from '../fields.ts';
import { JobFilterBody } from './job-filter.ts';
import { PAGE_DEFAULT, PAGE_MAX } from './job-query.ts';

const { definitionKey, errorCode, fingerprint, q, finishedAfter, finishedBefore } =
  JobFilterBody.shape;
const window = { definitionKey, errorCode, from: finishedAfter, to: finishedBefore };

/** Query of `GET /v1/dead-letters`. */
export const DeadLetterQuery = closed({
  ...window,
  fingerprint,
  q: q.describe(
    'A search, as in GET /v1/jobs. The number of jobs searched per page is limited: a page can be ' +
      'short or empty and still have a nextCursor.',
  ),
  cursor: text(200).optional().describe('The nextCursor of the previous page.'),
  limit: wholeInQuery(1, PAGE_MAX)
    .default(PAGE_DEFAULT)
    .describe(`Page size. Default ${PAGE_DEFAULT}.`),
});
export type DeadLetterQuery = z.infer<typeof DeadLetterQuery>;

const GROUPS_MAX = 1_000;
const GROUPS_DEFAULT = 100;
const BUCKETS_MAX = 100;

/** Query of `GET /v1/dead-letters/groups`. */
export const DeadLetterGroupQuery = closed({
  ...window,
  q: q.describe(
    'A search, as in GET /v1/jobs. With words, tags or an id, only the newest dead letters are ' +
      'searched; countIsExact and complete show whether there may be more.',
  ),
  buckets: wholeInQuery(1, BUCKETS_MAX)
    .optional()
    .describe('Number of parts of the window (`from` until `to` or now) for trends.'),
  limit: wholeInQuery(1, GROUPS_MAX)
    .default(GROUPS_DEFAULT)
    .describe(`Maximum number of groups. Default ${GROUPS_DEFAULT}.`),
});
export type DeadLetterGroupQuery = z.infer<typeof DeadLetterGroupQuery>;
