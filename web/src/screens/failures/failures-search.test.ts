import { describe, expect, it } from 'vitest';
import { parseUrlSearch, writeUrlSearch } from '../../words/url-search.ts';
import {
  bulkOf,
  failuresSearch,
  groupsAsked,
  lettersAsked,
  withoutOne,
} from './failures-search.ts';

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
  const search = { definitionKey: 'mail', fingerprint: 'f', q: 'a b', ...part };
  expect(groupsAsked(search)).toEqual({
    definitionKey: 'mail',
    errorCode: undefined,
    q: 'a b',
    window: '7d',
    inParts: true,
  });
  expect(lettersAsked(search)).toMatchObject({ ...part, fingerprint: 'f', q: 'a b' });
  expect(lettersAsked({ window: 'all' }).window).toBeUndefined();
});

it('acts on what is listed, whatever the page', () => {
  const shown = '2030-01-01T12:34:56.000Z';
  const of = (search: Parameters<typeof bulkOf>[0], from: string | null) =>
    JSON.parse(JSON.stringify(bulkOf(search, from))) as unknown;
  const search = { fingerprint: 'f', q: 'a b', cursor: 'page two' };
  const same = { status: ['failed'], fingerprint: 'f', q: 'a b' };
  expect(of({ ...search, window: 'all' }, null)).toEqual(same);
  expect(of({ ...search, window: '24h' }, shown)).toEqual({ ...same, finishedAfter: shown });
});

it('offers the same search without each filter, and at all times', () => {
  const part = { from: '2030-01-07T00:00:00.000Z', to: '2030-01-08T00:00:00.000Z' };
  expect(withoutOne({ q: 'ada', fingerprint: 'f', ...part, cursor: 'page two' })).toEqual([
    { words: 'Without the chosen error', search: { q: 'ada', ...part } },
    { words: 'Without “ada”', search: { fingerprint: 'f', ...part } },
    { words: 'Without the chosen part of the time', search: { q: 'ada', fingerprint: 'f' } },
    { words: 'Show all times', search: { q: 'ada', fingerprint: 'f', window: 'all' } },
  ]);
  expect(withoutOne({ q: 'ada', window: 'all' })).toEqual([
    { words: 'Without “ada”', search: { window: 'all' } },
  ]);
});
