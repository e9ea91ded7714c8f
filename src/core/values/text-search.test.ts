import { describe, expect, test } from 'vitest';
import { TextSearch } from './text-search.ts';

const search = (...texts: string[]) => new TextSearch(texts, 1_000_000);

test.each([
  [[], 'abc', 'abc'],
  [['b'], 'abc', 'a#c'],
  [['abc'], 'abcabc', '##'],
  [['ab', 'abcd', 'cd'], 'xabcdx', 'x#x'],
  [['abc', 'cde'], 'xabcdex', 'x#x'],
  [['he', 'she', 'hers'], 'ushers', 'u#'],
  [['aa'], 'aaaaa', '#'],
  [['b', 'abcx'], 'abcabcx', 'a#c#'],
  [['ä€', '😀'], 'xä€y😀', 'x#y#'],
  [['$&', '(.*)'], '$& and (.*)', '# and #'],
])('%j in %j', (texts, text, replaced) => {
  expect(search(...texts).replace(text, '#')).toBe(replaced);
});

test('finds what a search for each of them finds, in random texts of few letters', () => {
  let seed = 7;
  const random = (max: number) => (seed = (seed * 48_271) % 2_147_483_647) % max;
  const word = (length: number) => Array.from({ length }, () => 'abc'[random(3)]).join('');
  for (let round = 0; round < 500; round += 1) {
    const texts = Array.from({ length: 1 + random(6) }, () => word(1 + random(5)));
    const text = word(30);
    const covered = new Set<number>();
    for (const one of texts) {
      for (let at = text.indexOf(one); at !== -1; at = text.indexOf(one, at + 1)) {
        for (let n = 0; n < one.length; n += 1) covered.add(at + n);
      }
    }
    const kept = Array.from(text, (letter, at) => (covered.has(at) ? '' : letter)).join('');
    expect([texts, text, search(...texts).replace(text, '')]).toEqual([texts, text, kept]);
  }
});

test('looks for no more than it may hold, and for the first ones first', () => {
  const few = new TextSearch(['first', 'second', 'x'], 6);
  expect(few.replace('first second x', '#')).toBe('# second #');
});

describe('texts that were chosen to be slow', () => {
  // One after the other, these would take minutes: see the limit of a test in vitest.config.ts.
  test.each([
    ['with one long beginning', (n: number) => `${'a'.repeat(500)}${n}`],
    ['that end each other', (n: number) => 'a'.repeat(400 + n)],
    ['with different ends', (n: number) => `${'a'.repeat(400)}b${'a'.repeat(n)}`],
  ])('%s cost what others do', (_, make) => {
    const slow = search(...Array.from({ length: 256 }, (__, n) => `${make(n)}!`));
    const text = `${'a'.repeat(399)}b`.repeat(20_000);
    expect(slow.replace(text, '#')).toBe(text);
  });
});
