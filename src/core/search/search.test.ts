import { describe, expect, it, test } from 'vitest';
import { ANY_SEARCH, readSearch, type Search, writeSearch } from './search.ts';
import { searchTerms } from './search-terms.ts';

const word = (text: string, quoted = false) => ({ text, quoted });

const READ: [string, Partial<Search>][] = [
  ['', {}],
  ['   ', {}],
  ['timeout', { words: [word('timeout')] }],
  ['two words', { words: [word('two'), word('words')] }],
  ['"two words"', { words: [word('two words', true)] }],
  [String.raw`"say \"hi\""`, { words: [word('say "hi"', true)] }],
  ['status:failed', { statuses: ['failed'] }],
  ['STATUS:Failed', { statuses: ['failed'] }],
  ['status:failed,retrying', { statuses: ['failed', 'retrying'] }],
  ['status:failed status:queued|failed', { statuses: ['failed', 'queued'] }],
  ['owner:billing definition:mail*', { owners: ['billing'], definitions: ['mail*'] }],
  ['owner:"Team A"', { owners: ['Team A'] }],
  ['definition:$hook:mail', { definitions: ['$hook:mail'] }],
  ['code:timeout', { code: 'TIMEOUT' }],
  ['code:my_own', { code: 'my_own' }],
  ['tag:a tag:b', { tags: ['a', 'b'] }],
  ['tag:eu:west', { tags: ['eu:west'] }],
  ['id:0190-ABCD', { id: '0190abcd' }],
  ['worker:0A', { worker: '0a' }],
  ['https://example.com/a:b', { words: [word('https://example.com/a:b')] }],
  ['12:30:00', { words: [word('12:30:00')] }],
  ['{"a":1}', { words: [word('{"a":1}')] }],
  ['TypeError: x', { words: [word('typeerror:'), word('x')] }],
  ['"mail:send"', { words: [word('mail:send', true)] }],
  [
    'status:failed owner:billing timeout',
    { statuses: ['failed'], owners: ['billing'], words: [word('timeout')] },
  ],
];

it.each(READ)('reads %j, and writes it so that it means the same', (text, expected) => {
  const search = { ...ANY_SEARCH, ...expected };
  expect(readSearch(text)).toEqual({ search });
  expect(readSearch(writeSearch(search))).toEqual({ search });
});

describe('refuses', () => {
  it.each([
    [
      'owmer:billing',
      'unknown filter "owmer": did you mean "owner"? (to search for the text, write "owmer:billing")',
    ],
    [
      'mail:send',
      'unknown filter "mail": known are status, definition, owner, code, tag, id, worker (to search for the text, write "mail:send")',
    ],
    ['status:faild', 'status: unknown status "faild": did you mean "failed"?'],
    ['status:', 'status: needs a value'],
    ['tag: x', 'tag: needs a value'],
    ['""', 'has no text between quotation marks'],
    ['"open', 'a quotation mark is missing after "open"'],
    ['owner:"open end', 'a quotation mark is missing after "open end"'],
    ['id:xyz', 'id: needs 4 to 32 hex digits of a job id'],
    ['worker:xyz', 'worker: needs hex digits of a worker id'],
    ['code:A code:B', 'code: can be given only once'],
    ['x '.repeat(21), 'has 21 terms: at most 20 are allowed'],
  ])('%j', (text, problem) => expect(readSearch(text)).toEqual({ problem }));
});

test('terms know where they stand', () => {
  const text = '  a owner:"b c"d';
  const places = searchTerms(text).map(({ from, valueFrom, to }) => [
    text.slice(from, to),
    text.slice(valueFrom, to),
  ]);
  expect(places).toEqual([
    ['a', 'a'],
    ['owner:"b c"', '"b c"'],
    ['d', 'd'],
  ]);
});
