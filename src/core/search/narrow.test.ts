import { expect, it } from 'vitest';
import { ANY_JOB, type JobCriteria } from '../job/job-criteria.ts';
import { narrow } from './narrow.ts';

const narrowed = (criteria: Partial<JobCriteria>) => narrow({ ...ANY_JOB, ...criteria });

it.each<[string, Partial<JobCriteria>, Partial<JobCriteria>, string[]]>([
  ['nothing', {}, { statuses: [], tag: null, errorCode: null }, []],
  ['states', { q: 'status:failed' }, { statuses: ['failed'] }, []],
  [
    'states of both',
    { statuses: ['failed', 'queued'], q: 'status:failed' },
    { statuses: ['failed'] },
    [],
  ],
  ['a code', { q: 'code:X' }, { errorCode: 'X' }, []],
  ['the same code', { errorCode: 'X', q: 'code:X' }, { errorCode: 'X' }, []],
  ['the first tag', { q: 'tag:a tag:b' }, { tag: 'a' }, ['b']],
  ['a tag and others', { tag: 'z', q: 'tag:a tag:b' }, { tag: 'z' }, ['a', 'b']],
])('moves into the criteria: %s', (_name, criteria, expected, tags) => {
  const result = narrowed(criteria);
  expect(result?.criteria).toMatchObject(expected);
  expect(result?.search.tags).toEqual(tags);
});

it.each<[string, Partial<JobCriteria>]>([
  ['states', { statuses: ['failed'], q: 'status:queued' }],
  ['codes', { errorCode: 'X', q: 'code:Y' }],
])('finds contradictions: %s', (_name, criteria) => expect(narrowed(criteria)).toBeNull());
