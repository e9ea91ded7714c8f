import { describe, expect, it, test } from 'vitest';
import { JOB_STATES } from '../../../../src/core/job.ts';
import { parseUrlSearch, writeUrlSearch } from '../../words/url-search.ts';
import { jobsSearch, TABS } from './jobs-search.ts';

describe('the view in the address', () => {
  it('is the same after a reload', () => {
    const view = {
      status: ['running', 'cancelling'],
      definitionKey: 'mail/send',
      tag: 'a b',
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
