import { expect, test } from 'vitest';
import { readSearch, writeSearch } from './search-text.ts';

test.each([
  ['', { wanted: {} }],
  ['mail.send', { wanted: { definitionKey: 'mail.send' } }],
  ['definition:mail tag:nightly', { wanted: { definitionKey: 'mail', tag: 'nightly' } }],
  ['  tag:a:b  ', { wanted: { tag: 'a:b' } }],
  ['$hook:mail', { wanted: { definitionKey: '$hook:mail' } }],
  ['a b', { wrong: 'only one definition at a time; put “b” in quotes to search for text' }],
  [
    'code:TIMEOUT "blue 7" mail',
    { wanted: { errorCode: 'TIMEOUT', q: 'blue 7', definitionKey: 'mail' } },
  ],
  ['""', { wrong: 'enter text between the quotes' }],
  ['tag:', { wrong: 'enter a value after the colon' }],
])('%j is read', (text, reading) => expect(readSearch(text)).toEqual(reading));

test('a job id leads to its job', () => {
  const jobId = '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400';
  expect(readSearch(` ${jobId.toUpperCase()} `)).toEqual({ jobId });
});

test('what was read can be written again', () => {
  for (const wanted of [
    {},
    { definitionKey: 'a' },
    { tag: 'x' },
    { definitionKey: 'a', tag: 'x', errorCode: 'E', q: 'two words' },
  ]) {
    expect(readSearch(writeSearch(wanted))).toEqual({ wanted });
  }
});
