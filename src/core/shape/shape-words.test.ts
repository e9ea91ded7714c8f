import { expect, test } from 'vitest';
import { shapeWords } from './shape-words.ts';

test.each([
  [1, 1, null],
  [1, null, null],
  [2, null, '2'],
  [2, 2, '2'],
  [1, 2, '1 (the code has 2, and upgrades them when the job starts)'],
  [3, 2, '3 (the code has 2: the job waits for newer code)'],
])('shape %j of %j', (paramsShape, currentParamsShape, words) => {
  expect(shapeWords({ paramsShape, currentParamsShape })).toBe(words);
});

test('an older server says nothing of shapes', () => {
  expect(shapeWords({})).toBeNull();
});
