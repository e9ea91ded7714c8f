import { z } from 'zod';
import { JOB_STATES, type JobState } from '../../core/job/job.ts';
import { closed, instant, list, oneOf, searchedKey, text, wholeInQuery } from '../fields.ts';
import { TAG_LENGTH_MAX } from './job-body.ts';

export const PAGE_MAX = 200;
export const PAGE_DEFAULT = 50;
export const ERROR_CODE_MAX = 100;
export const Q_MAX = 200;
const JOB_SORTS = ['-createdAt', 'createdAt', 'runAt', '-priority'] as const;

export type JobSort = (typeof JOB_SORTS)[number];

/** A query string knows no lists: one value is a list of one. */
const asList = (value: unknown) => (Array.isArray(value) ? value : [value]);

/** Which states have an order of their own, and must be asked for with it. */
const SORTED_STATES: Partial<Record<JobSort, readonly JobState[]>> = {
  runAt: ['scheduled', 'retrying'],
  '-priority': ['queued'],
};

/** What `GET /v1/jobs` can be asked. */
export const JobQuery = closed({
  status: z
    .preprocess(asList, list(oneOf('status', JOB_STATES), 1, JOB_STATES.length))
    .optional()
    .describe('Only jobs in this state. May be repeated.'),
  definitionKey: searchedKey()
    .optional()
    .describe('Only jobs of this definition; $hook: before its key finds the jobs of its hooks.'),
  tag: text(TAG_LENGTH_MAX)
    .optional()
    .describe('Only jobs with this tag. Beside a status a page can be short, as with q.'),
  errorCode: text(ERROR_CODE_MAX)
    .optional()
    .describe('Only jobs whose latest failure has this code, like TIMEOUT.'),
  createdAfter: instant().optional().describe('Only jobs made at this time or later.'),
  createdBefore: instant().optional().describe('Only jobs made before this time.'),
  runAfter: instant().optional().describe('Only jobs that wait for this time or a later one.'),
  runBefore: instant().optional().describe('Only jobs that wait for a time before this one.'),
  q: text(Q_MAX)
    .optional()
    .describe(
      'Only jobs with this text in the message of their latest failure, or in their params, if these are not encrypted. ' +
        'Not all jobs may be looked at for one page: it can be short, and still have a nextCursor.',
    ),
  sort: oneOf('sort', JOB_SORTS)
    .default('-createdAt')
    .describe(
      '-createdAt is newest first, createdAt is oldest first. runAt is the next one first, for ' +
        'the status scheduled and retrying; -priority is the next one first, for queued.',
    ),
  cursor: text(200).optional().describe('The nextCursor of the page before.'),
  limit: wholeInQuery(1, PAGE_MAX)
    .default(PAGE_DEFAULT)
    .describe(`How many jobs a page holds at most. Default ${PAGE_DEFAULT}.`),
}).refine(({ sort, status = [] }) => fitsSort(sort, status), {
  path: ['sort'],
  error: 'runAt needs status=scheduled or retrying, -priority needs status=queued, and no other',
});

function fitsSort(sort: JobSort, statuses: readonly JobState[]): boolean {
  const sorted = SORTED_STATES[sort];
  return !sorted || (statuses.length > 0 && statuses.every((state) => sorted.includes(state)));
}

export type JobQuery = z.infer<typeof JobQuery>;

/** Of what can hold secrets: whether they are shown. */
export const reveal = oneOf('value', ['true', 'false'])
  .optional()
  .describe('Show what is otherwise [redacted]. Needs the scope jobs:reveal, and is audited.');

export const RevealQuery = closed({ reveal });

/** What the probes can be asked: `?verbose` adds what was looked at. */
export const ProbeQuery = closed({
  verbose: oneOf('value', ['', 'true', 'false']).optional().describe('Also tell what was checked.'),
});

export const NoQuery = closed({});
