import { z } from 'zod';
import { JOB_STATES, type JobState } from '../../core/job/job.ts';
import { meet } from '../../core/search/narrow.ts';
import { readSearch } from '../../core/search/search.ts';
import {
  closed,
  instant,
  jobIdPart,
  list,
  oneOf,
  searchedKey,
  searchText,
  text,
  wholeInQuery,
} from '../fields.ts';
import { TAG_LENGTH_MAX } from './job-body.ts';

export const PAGE_MAX = 200;
export const PAGE_DEFAULT = 50;
export const ERROR_CODE_MAX = 100;
export const Q_MAX = 500;
const JOB_SORTS = ['-createdAt', 'createdAt', 'runAt', '-priority'] as const;

export type JobSort = (typeof JOB_SORTS)[number];

/** A list: the parameter repeats, or its values stand between bars. */
const asList = (value: unknown) =>
  (Array.isArray(value) ? value : [value]).flatMap((one: unknown) =>
    typeof one === 'string' ? one.split('|') : [one],
  );

/** Sorts that are available for certain states only. */
const SORTED_STATES: Partial<Record<JobSort, readonly JobState[]>> = {
  runAt: ['scheduled', 'retrying', 'suspended'],
  '-priority': ['queued'],
};

/** Query of `GET /v1/jobs`. */
export const JobQuery = closed({
  status: z
    .preprocess(asList, list(oneOf('status', JOB_STATES), 1, JOB_STATES.length))
    .optional()
    .describe('Only jobs in this state. May be repeated; status=queued|running is the same.'),
  definitionKey: searchedKey()
    .optional()
    .describe('Only jobs of this definition; prefix the key with $hook: for its hook jobs.'),
  tag: text(TAG_LENGTH_MAX)
    .optional()
    .describe('Only jobs with this tag. Combined with a status, a page can be short, as with q.'),
  errorCode: text(ERROR_CODE_MAX)
    .optional()
    .describe('Only jobs whose latest error has this code, like TIMEOUT.'),
  createdAfter: instant().optional().describe('Only jobs created at this time or later.'),
  createdBefore: instant().optional().describe('Only jobs created before this time.'),
  runAfter: instant().optional().describe('Only waiting jobs due at this time or later.'),
  runBefore: instant().optional().describe('Only waiting jobs due before this time.'),
  id: jobIdPart()
    .optional()
    .describe(
      'Only jobs whose id begins or ends with these 4 to 32 hex digits: at most the 10 newest. An ' +
        'end is looked for among the newest and the newest failed jobs. Can be combined with definitionKey only.',
    ),
  q: searchText(Q_MAX)
    .optional()
    .describe(
      'A search, like status:failed owner:billing timeout. Filters: status, definition, owner, code, ' +
        'tag, id, worker. Other words are looked for in the definition key, tags, latest error with its causes and ' +
        'unencrypted params; quote a text with spaces. The number of jobs searched per page is ' +
        'limited: a page can be short or empty and still have a nextCursor.',
    ),
  sort: oneOf('sort', JOB_SORTS)
    .default('-createdAt')
    .describe(
      '-createdAt: newest first; createdAt: oldest first; runAt: next due first, for the status ' +
        'scheduled and retrying; -priority: next to run first, for queued.',
    ),
  cursor: text(200).optional().describe('The nextCursor of the previous page.'),
  limit: wholeInQuery(1, PAGE_MAX)
    .default(PAGE_DEFAULT)
    .describe(`Page size. Default ${PAGE_DEFAULT}.`),
})
  .refine(({ sort, status = [], q }) => fitsSort(sort, meet(status, statusesOf(q)) ?? []), {
    path: ['sort'],
    error: 'runAt needs status=scheduled or retrying, -priority needs status=queued, and no other',
  })
  .refine(isAlone, { path: ['id'], error: 'can be combined with definitionKey only' });

/** The access check adds `tenant`, which says whose jobs they are. */
const BESIDE_ID = ['id', 'definitionKey', 'sort', 'limit', 'tenant'];

function isAlone({ id, ...others }: Record<string, unknown>): boolean {
  if (id === undefined) return true;
  return Object.entries(others).every(
    ([name, value]) => value === undefined || BESIDE_ID.includes(name),
  );
}

/** The states that a search names. */
export function statusesOf(q: string | undefined): readonly JobState[] {
  const reading = readSearch(q ?? '');
  return 'search' in reading ? reading.search.statuses : [];
}

function fitsSort(sort: JobSort, statuses: readonly JobState[]): boolean {
  const sorted = SORTED_STATES[sort];
  return !sorted || (statuses.length > 0 && statuses.every((state) => sorted.includes(state)));
}

export type JobQuery = z.infer<typeof JobQuery>;

/** Whether to show secrets. */
export const reveal = oneOf('value', ['true', 'false'])
  .optional()
  .describe('Show redacted values. Needs the scope jobs:reveal, and is audited.');

export const RevealQuery = closed({ reveal });

/** Query of the probes: `?verbose` adds the checks. */
export const ProbeQuery = closed({
  verbose: oneOf('value', ['', 'true', 'false']).optional().describe('Include the checks.'),
});

export const NoQuery = closed({});
