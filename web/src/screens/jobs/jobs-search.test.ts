import { describe, expect, it, test } from 'vitest';
import { JOB_STATES } from '../../../../src/core/job.ts';
import { parseUrlSearch, writeUrlSearch } from '../../words/url-search.ts';
import { bulkOf, jobsSearch, TABS } from './jobs-search.ts';

describe('the view in the address', () => {
  it('is the same after a reload', () => {
    const view = {
      status: ['running', 'cancelling'],
      definitionKey: 'mail/send',
      tag: 'a b',
      errorCode: 'TIMEOUT',
      q: 'blue 7',
      since: '24h',
      sort: 'createdAt',
      cursor: 'abc',
    };
    expect(jobsSearch(parseUrlSearch(writeUrlSearch(view)))).toEqual(view);
  });

  it.each(['?status=nonsense&since=9y&sort=x&tag=', '?since=constructor'])(
    'leaves out what %s says wrongly',
    (address) => expect(jobsSearch(parseUrlSearch(address))).toEqual({}),
  );
});

test('every state has its tab', () => {
  expect(new Set(TABS.flatMap(({ status }) => status))).toEqual(new Set(JOB_STATES));
});

test('a bulk action is about what is filtered, not about the page', () => {
  const now = new Date('2030-01-01T12:00:00Z');
  const search = { tag: 'eu', since: '1h', cursor: 'x', sort: 'createdAt' } as const;
  expect(bulkOf(search, now)).toEqual({ tag: 'eu', createdAfter: '2030-01-01T11:00:00.000Z' });
});
