import { describe, expect, it, test } from 'vitest';
import { JOB_STATES } from '../../../../src/core/job/job.ts';
import { statsView } from '../../../../src/core/views/stats.ts';
import { parseUrlSearch, writeUrlSearch } from '../../words/url-search.ts';
import { bulkOf, jobsSearch, tabCounts, TABS, withoutOne } from './jobs-search.ts';

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

test('what fits nothing can be let go of, one by one', () => {
  const search = { tag: 'eu', since: '1h', cursor: 'x', sort: 'createdAt' } as const;
  expect(withoutOne(search)).toEqual([
    { words: 'eu', search: { since: '1h', sort: 'createdAt' } },
    { words: 'Last hour', search: { tag: 'eu', sort: 'createdAt' } },
  ]);
  expect(withoutOne({ tag: 'eu' })).toEqual([]);
});

test('tabs are counted where nothing else is asked for', () => {
  const asked = { windowMinutes: 60, seriesMinutes: 1, unservedAfterMs: 0 };
  const rows = { at: new Date(0), recent: [], oldest: [], minutes: [] };
  const depths = [{ key: 'mail', version: 1, state: 'failed' as const, n: 3 }];
  const stats = statsView({ ...rows, depths }, asked);
  expect(tabCounts({ status: ['failed'] }, stats)?.failed).toBe(3);
  expect(tabCounts({ definitionKey: 'mail' }, stats)?.failed).toBe(3);
  expect(tabCounts({ definitionKey: 'other' }, stats)).toBeNull();
  expect(tabCounts({ q: 'x' }, stats)).toBeNull();
  expect(tabCounts({}, null)).toBeNull();
});
