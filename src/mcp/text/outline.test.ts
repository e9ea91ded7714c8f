import { expect, test } from 'vitest';
import { clamp, clampJson } from './clamp.ts';
import { facts } from './facts.ts';
import { outline } from './outline.ts';

test.each([
  ['a text', { a: 'one' }, 'a: one'],
  ['a number and a flag', { a: 1, b: false }, 'a: 1\nb: false'],
  ['several lines, which cannot pass for a field', { a: 'x\nb: y' }, 'a:\n  | x\n  | b: y'],
  ['control characters', { a: 'red \u001b[31m' }, 'a: red \\u001b[31m'],
  ['a name with a line break', { 'a\nb': 1 }, 'a\\nb: 1'],
  ['fields of fields', { a: { b: 'c' } }, 'a:\n  b: c'],
  ['a short list', { a: ['b', 'c'] }, 'a: b, c'],
  [
    'a list of texts that need a line each',
    { a: ['b, c', 'd\ne'] },
    'a:\n  - b, c\n  - d\n    | e',
  ],
  [
    'a list of facts',
    { a: [{ b: 1, c: 'x\ny' }, { b: 2 }] },
    'a:\n  - b: 1\n    c:\n      | x\n      | y\n  - b: 2',
  ],
  ['other lists', { a: [1, null] }, 'a:\n  - 1\n  - null'],
])('an answer shows %s', (_, given, text) => expect(outline(given)).toBe(text));

test('what is empty is left out', () => {
  expect(facts({ a: null, b: undefined, c: '', d: [], e: 0, f: false })).toEqual({
    e: 0,
    f: false,
  });
});

test('a long text says how much is missing', () => {
  expect(clamp('abc', 3)).toBe('abc');
  expect(clamp('abcd', 3)).toBe('abc… [truncated: 1 more characters]');
  expect(clamp('ab😀', 3)).toBe('ab… [truncated: 2 more characters]');
});

test('a large value becomes the beginning of its JSON', () => {
  expect(clampJson({ a: 1 }, 10)).toEqual({ a: 1 });
  expect(clampJson({ a: 'x'.repeat(9) }, 10)).toBe('{"a":"xxxx… [truncated: 7 more characters]');
});
