import { z } from 'zod';
import { JOB_STATES } from '../../core/job/job.ts';
import { writeTerm } from '../../core/search/search-terms.ts';
import { HOUR_MS } from '../../core/values/duration.ts';
import { closed, definitionKey, oneOf, text, whole } from '../../protocol/fields.ts';
import { tool } from '../tool.ts';
import { facts } from '../text/facts.ts';
import { jobRow } from '../text/job-facts.ts';

const LIMIT_DEFAULT = 10;
const SORTS = ['-createdAt', 'createdAt', 'runAt', '-priority'] as const;

export const listJobs = tool({
  name: 'list_jobs',
  title: 'List jobs',
  description:
    'Lists jobs, the newest first, each with its state in a sentence. Filter by status, ' +
    'definition, tag, error code, age or a text in params and errors.',
  scope: 'jobs:read',
  effect: 'reads',
  idempotent: true,
  input: closed({
    status: z
      .array(oneOf('status', JOB_STATES))
      .min(1)
      .max(JOB_STATES.length)
      .optional()
      .describe('Only jobs in these states.'),
    definition: definitionKey().optional().describe('Only jobs of this definition.'),
    tag: text(100).optional().describe('Only jobs with this tag.'),
    errorCode: text(100).optional().describe('Only jobs whose latest error has this code.'),
    contains: text(200).optional().describe('Only jobs with this text in params or error.'),
    createdWithinHours: whole(1, 8_784).optional().describe('Only jobs created since then.'),
    sort: oneOf('sort', SORTS)
      .default('-createdAt')
      .describe('runAt: next due, for scheduled or retrying; -priority: next to run, for queued.'),
    limit: whole(1, 50).default(LIMIT_DEFAULT).describe(`Default ${LIMIT_DEFAULT}.`),
    cursor: text(200).optional().describe('nextCursor of the previous answer.'),
  }),
  run: async (args, { client, now }) => {
    const { definition, contains, createdWithinHours: hours, ...rest } = args;
    const createdAfter =
      hours === undefined ? undefined : new Date(now().getTime() - hours * HOUR_MS);
    const q = contains === undefined ? undefined : writeTerm(null, contains, true);
    const filter = { ...rest, definitionKey: definition, q, createdAfter };
    const { jobs, nextCursor } = await client.list(filter);
    return facts({
      none: jobs.length === 0 && nextCursor === null ? 'No job matches.' : null,
      jobs: jobs.map((job) => jobRow(job, now())),
      // A search looks at a limited number of jobs per page.
      more: nextCursor === null ? null : 'There may be more: call again with cursor = nextCursor.',
      nextCursor,
    });
  },
});
