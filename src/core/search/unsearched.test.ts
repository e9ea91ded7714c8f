import { expect, test } from 'vitest';
import { type Unsearched, unsearchedWords } from './unsearched.ts';

test.each<[Unsearched[], RegExp | null]>([
  [[], null],
  [['large'], /^Large params are not searched: /],
  [['encrypted', 'large'], /^Encrypted and large params are not searched: /],
])('%j', (kinds, words) => {
  if (words === null) expect(unsearchedWords(kinds)).toBeNull();
  else expect(unsearchedWords(kinds)).toMatch(words);
});
