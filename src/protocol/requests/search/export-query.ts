import type { z } from 'zod';
import { EXPORT_FORMATS, EXPORT_ROWS_MAX } from '../../../core/search/job-export.ts';
import { closed, jobId, oneOf, wholeInQuery } from '../../fields.ts';
import { JobFilterBody } from '../job-filter.ts';
import { JobQuery } from '../job-query.ts';

const { status, definitionKey, tag, errorCode, createdAfter, createdBefore, runAfter, runBefore } =
  JobQuery.shape;
const { fingerprint, finishedAfter, finishedBefore } = JobFilterBody.shape;

/** Query of `GET /v1/jobs/export`. */
export const ExportQuery = closed({
  format: oneOf('format', EXPORT_FORMATS).describe(
    'csv: a table with a head; jsonl: a job as JSON in each line.',
  ),
  status,
  definitionKey,
  tag,
  errorCode,
  createdAfter,
  createdBefore,
  runAfter,
  runBefore,
  fingerprint,
  finishedAfter,
  finishedBefore,
  q: JobQuery.shape.q,
  sort: oneOf('sort', ['-createdAt', 'createdAt'])
    .default('-createdAt')
    .describe('-createdAt: newest first; createdAt: oldest first.'),
  limit: wholeInQuery(1, EXPORT_ROWS_MAX)
    .default(EXPORT_ROWS_MAX)
    .describe(`Maximum number of jobs. Default ${EXPORT_ROWS_MAX}.`),
  after: jobId()
    .optional()
    .describe('Continue after this job: the last one of the previous export.'),
});
export type ExportQuery = z.infer<typeof ExportQuery>;
