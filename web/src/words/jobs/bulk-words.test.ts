import { describe, expect, it, test } from 'vitest';
import type { BulkView } from '../../../../src/core/job/bulk.ts';
import { madeJob } from '../made.fixture.ts';
import { BROWSER_ZONE, showZone } from '../zone.ts';
import {
  actionsFor,
  bulkFilter,
  bulkFraction,
  bulkSentence,
  endsWords,
  errorsOf,
  failedAgainFilter,
  filterWords,
  knownJobs,
  sameCodeWords,
} from './bulk-words.ts';

const bulk = (over: Partial<BulkView>): BulkView => ({
  bulkId: 'b',
  action: 'retry',
  status: 'running',
  filter: {},
  mode: 'now',
  ratePerSecond: null,
  matched: 2_000,
  matchedIsExact: true,
  done: 500,
  skipped: 0,
  failed: 0,
  note: null,
  createdAt: '2030-01-01T12:00:00Z',
  finishedAt: null,
  ...over,
});

test.each([
  [[], ['retry', 'cancel', 'delete']],
  [['failed'], ['retry', 'delete']],
  [['running', 'cancelling'], ['cancel']],
  [['cancelling'], []],
] as const)('to jobs that are %j can be done: %j', (states, actions) =>
  expect(actionsFor(states)).toEqual(actions),
);

describe('the filter of a bulk action', () => {
  it('names only states that the action can change', () => {
    const filter = { status: ['running', 'cancelling'] as const, tag: 'eu', q: undefined };
    expect(bulkFilter('cancel', filter)).toEqual({ status: ['running'], tag: 'eu' });
  });

  it('is never empty', () => {
    expect(bulkFilter('delete', {})).toBeNull();
    expect(bulkFilter('delete', { status: ['running'] })).toBeNull();
    expect(bulkFilter('delete', { tag: 'eu' })).toEqual({ tag: 'eu' });
  });

  it('can be read', () => {
    const filter = { status: ['failed', 'cancelled'], definitionKey: 'mail', q: null };
    expect(filterWords(filter)).toBe('status failed or cancelled, of mail');
    const since = { fingerprint: '0123456789abcdef', finishedAfter: '2030-01-31T12:00:00.000Z' };
    expect(filterWords(since)).toMatch(/^error 01234567…, finished since 3\d Jan 2030, \d\d:\d\d$/);
  });
});

describe('progress', () => {
  it('says what was done and what was not', () => {
    expect(bulkSentence(bulk({}))).toBe('500 of 2,000 jobs queued again.');
    const odd = bulk({ status: 'aborted', skipped: 3, failed: 1, matchedIsExact: false });
    expect(bulkSentence(odd)).toBe(
      '500 of 2,000+ jobs queued again, 3 skipped, 1 failed. Stopped by a user.',
    );
  });

  it('is a fraction only where the whole is known', () => {
    expect(bulkFraction(bulk({ skipped: 500 }))).toBe(0.5);
    expect(bulkFraction(bulk({ matchedIsExact: false }))).toBeNull();
    expect(bulkFraction(bulk({ status: 'finished', done: 0 }))).toBe(1);
  });
});

test('a finished retry says that jobs wait again, not that they succeeded', () => {
  const retry = {
    action: 'retry',
    status: 'finished',
    skipped: 0,
    failed: 0,
    matchedIsExact: true,
  };
  expect(bulkSentence({ ...retry, done: 270, matched: 270 } as BulkView)).toBe(
    '270 jobs queued again.',
  );
  expect(bulkSentence({ ...retry, done: 1, matched: 1 } as BulkView)).toBe('1 job queued again.');
});

test('what failed again is what the filter finds after the retry', () => {
  const since = '2030-01-01T00:00:00.000Z';
  const bulk = { action: 'retry', createdAt: since, filter: { fingerprint: 'f' } };
  expect(failedAgainFilter(bulk as unknown as BulkView)).toEqual({
    fingerprint: 'f',
    status: ['failed'],
    finishedAfter: since,
  });
  expect(
    failedAgainFilter({ ...bulk, filter: { jobIds: ['a'] } } as unknown as BulkView),
  ).toBeNull();
  expect(failedAgainFilter({ ...bulk, action: 'delete' } as unknown as BulkView)).toBeNull();
});

test('a retry of the newest version runs the same code', () => {
  const newest = new Map([['a', 2]]);
  const job = { definitionKey: 'a', definitionVersion: 2 };
  expect(sameCodeWords([job, job], newest)).toBe(
    'No newer version was published since they failed (version 2).',
  );
  expect(sameCodeWords([job, { ...job, definitionVersion: 1 }], newest)).toBeNull();
  expect(sameCodeWords([], newest)).toBeNull();
});

test('a filter names the text of an error, not its fingerprint', () => {
  const filter = { fingerprint: '0123456789abcdef' };
  expect(filterWords(filter)).toBe('error 01234567…');
  expect(filterWords(filter, new Map([['0123456789abcdef', 'no room']]))).toBe('error no room');
});

test('the preview of a group knows the text of its error from the jobs in it', () => {
  const filter = { fingerprint: '0123456789abcdef' };
  const error = { code: 'E_ROOM', message: 'no room', stack: null, cause: null };
  const sample = [madeJob({ status: 'failed', error })];
  expect(filterWords(filter, errorsOf(filter, sample))).toBe('error E_ROOM no room');
  expect(errorsOf(filter, []).size).toBe(0);
  expect(errorsOf({}, sample).size).toBe(0);
});

test('times of a filter are in the time zone that the dashboard shows', () => {
  const filter = { finishedAfter: '2030-01-31T23:30:00.000Z' };
  try {
    showZone('Asia/Tokyo');
    expect(filterWords(filter)).toBe('finished since 1 Feb 2030, 08:30');
    showZone('UTC');
    expect(filterWords(filter)).toBe('finished since 31 Jan 2030, 23:30');
  } finally {
    showZone(BROWSER_ZONE);
  }
});

test.each([
  [
    20,
    { succeeded: 3, failed: 5, failedIsExact: true },
    '3 succeeded, 5 failed again, 12 have not ended yet.',
  ],
  [
    2,
    { succeeded: 1, failed: 0, failedIsExact: true },
    '1 succeeded, 0 failed again, 1 has not ended yet.',
  ],
  [2, { succeeded: 2, failed: 0, failedIsExact: true }, '2 succeeded, 0 failed again.'],
  [9, { succeeded: null, failed: 0, failedIsExact: true }, 'None has failed again so far.'],
  [9_000, { succeeded: null, failed: 1_000, failedIsExact: false }, '1,000+ failed again so far.'],
])('the ends of %s retried jobs', (done, ends, words) => {
  expect(endsWords(done, ends)).toBe(words);
});

test('the jobs of a bulk action are known if they were selected, or all shown', () => {
  const sample = [madeJob({ jobId: 'a' }), madeJob({ jobId: 'b' })];
  const preview = { action: 'retry', matched: 2, matchedIsExact: true, sample } as const;
  expect(knownJobs({ jobIds: ['x'] }, preview)).toEqual(['x']);
  expect(knownJobs({ errorCode: 'E' }, preview)).toEqual(['a', 'b']);
  expect(knownJobs({ errorCode: 'E' }, { ...preview, matched: 3 })).toBeNull();
  expect(knownJobs({ errorCode: 'E' }, { ...preview, matchedIsExact: false })).toBeNull();
});
