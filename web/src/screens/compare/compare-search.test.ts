import { expect, test } from 'vitest';
import { parseUrlSearch, writeUrlSearch } from '../../words/url-search.ts';
import { compareSearch } from './compare-search.ts';

test.each([
  ['?a=x&b=y', { a: 'x', b: 'y' }],
  ['?a=x&claimA=1&claimB=2', { a: 'x', claimA: 1, claimB: 2 }],
  ['?a=x&claimA=0&claimB=nine', { a: 'x' }],
  ['', {}],
])('%s', (text, search) => {
  expect(compareSearch(parseUrlSearch(text))).toEqual(search);
  expect(compareSearch(parseUrlSearch(writeUrlSearch(search)))).toEqual(search);
});
