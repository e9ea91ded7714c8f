import { expect, test } from 'vitest';
import { cancelWords } from './cancel-words.ts';

test.each([
  ['queued', true, /^The job will not run/],
  ['running', false, /its process is killed/],
  ['running', true, /cannot be killed if it ignores that/],
] as const)('%s, inline %s', (status, isInline, words) => {
  expect(cancelWords({ status }, isInline)).toMatch(words);
});
