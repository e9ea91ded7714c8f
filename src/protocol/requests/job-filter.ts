import { z } from 'zod';
import { ANY_JOB, JOB_IDS_MAX, type JobCriteria } from '../../core/job/job-criteria.ts';
import { JOB_STATES } from '../../core/job/job.ts';
import { meet } from '../../core/search/narrow.ts';
import { closed, instant, jobId, list, oneOf, searchedKey, searchText, text } from '../fields.ts';
import { TAG_LENGTH_MAX } from './job-body.ts';
import { ERROR_CODE_MAX, Q_MAX, statusesOf } from './job-query.ts';

const FINGERPRINT_MAX = 100;

const after = (what: string) => instant().optional().describe(`Only ${what} this time or later.`);
const before = (what: string) => instant().optional().describe(`Only ${what} before this time.`);

/** Filter of a bulk action; a list of jobs has the same filters. */
export const JobFilterBody = closed({
  status: z
    .union([
      oneOf('status', JOB_STATES, 'must be a status or a list of them'),
      list(oneOf('status', JOB_STATES), 1, JOB_STATES.length),
    ])
    .optional()
    .describe('Only jobs in one of these states.'),
  definitionKey: searchedKey().optional().describe('Only jobs of this definition.'),
  tag: text(TAG_LENGTH_MAX).optional().describe('Only jobs with this tag.'),
  errorCode: text(ERROR_CODE_MAX)
    .optional()
    .describe('Only jobs whose latest error has this code.'),
  fingerprint: text(FINGERPRINT_MAX)
    .optional()
    .describe('Only jobs whose latest error has this fingerprint.'),
  createdAfter: after('jobs created at'),
  createdBefore: before('jobs created'),
  runAfter: after('waiting jobs due at'),
  runBefore: before('waiting jobs due'),
  finishedAfter: after('jobs finished at'),
  finishedBefore: before('jobs finished'),
  q: searchText(Q_MAX).optional().describe('A search, as in GET /v1/jobs.'),
  jobIds: list(jobId(), 1, JOB_IDS_MAX)
    .optional()
    .describe(`Only these jobs: 1 to ${JOB_IDS_MAX} ids. Unknown ids are skipped.`),
});
export type JobFilterBody = z.infer<typeof JobFilterBody>;

export function criteriaOf({ status, ...filter }: JobFilterBody): JobCriteria {
  const said = Object.fromEntries(
    Object.entries(filter).filter(([, value]) => value !== undefined),
  ) as Partial<JobCriteria>;
  const statuses = status === undefined ? [] : [status].flat();
  return { ...ANY_JOB, ...said, statuses: meet(statuses, statusesOf(filter.q)) ?? statuses };
}
