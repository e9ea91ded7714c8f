import { describe, expect, it } from 'vitest';
import { parseUrlSearch, writeUrlSearch } from '../../words/url-search.ts';
import { bulkOf, failuresSearch, groupsAsked, lettersAsked } from './failures-search.ts';

const NOW = new Date('2030-01-08T12:34:56Z');

describe('the view of what failed', () => {
  it('is the same after a reload', () => {
    const view = {
      window: '24h',
      definitionKey: 'mail/send',
      errorCode: 'TIMEOUT',
      fingerprint: 'abc',
      from: '2030-01-01T00:00:00.000Z',
      to: '2030-01-01T03:00:00.000Z',
      q: 'a b',
      cursor: 'x',
    };
    expect(failuresSearch(parseUrlSearch(writeUrlSearch(view)))).toEqual(view);
  });

  it('leaves out what the address says wrongly', () => {
    expect(failuresSearch({ window: 'constructor', from: 'soon', q: '' })).toEqual({});
  });
});

it('counts the whole window, and lists the part that is looked at', () => {
  const part = { from: '2030-01-07T00:00:00.000Z', to: '2030-01-08T00:00:00.000Z' };
  const search = { definitionKey: 'mail', fingerprint: 'f', ...part };
  expect(groupsAsked(search, NOW)).toEqual({
    definitionKey: 'mail',
    errorCode: undefined,
    from: '2030-01-02T00:00:00.000Z',
    to: '2030-01-09T00:00:00.000Z',
    buckets: 7,
  });
  expect(lettersAsked(search, NOW)).toMatchObject({ ...part, fingerprint: 'f' });
  expect(lettersAsked({ window: 'all' }, NOW).from).toBeUndefined();
});

it('acts on what is listed, whatever the page', () => {
  const asked = lettersAsked({ fingerprint: 'f', cursor: 'page two', window: 'all' }, NOW);
  expect(JSON.parse(JSON.stringify(bulkOf(asked)))).toEqual({
    status: ['failed'],
    fingerprint: 'f',
  });
});
