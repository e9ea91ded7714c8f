import { expect, test } from 'vitest';
import { parseUrlSearch, textOf, writeUrlSearch } from './url-search.ts';

test('an address can be read and written again', () => {
  const search = { status: ['failed', 'retrying'], tag: 'a&b=c', definitionKey: 'x/y' };
  const text = writeUrlSearch({ ...search, empty: '', missing: undefined });
  expect(text).toBe('?status=failed&status=retrying&tag=a%26b%3Dc&definitionKey=x%2Fy');
  expect(parseUrlSearch(text)).toEqual(search);
  expect(writeUrlSearch({})).toBe('');
});

test('whatever an address holds, a name has one value or none', () => {
  expect(textOf({ a: ['x', 'y'] }, 'a')).toBe('x');
  expect(textOf({ a: '' }, 'a')).toBeUndefined();
  expect(textOf({ a: 5 }, 'a')).toBeUndefined();
});
