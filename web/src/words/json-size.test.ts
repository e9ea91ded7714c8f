import { expect, test } from 'vitest';
import { clampText, isLong, sizeWords } from './json-size.ts';

test('JSON is long by its lines or its characters', () => {
  expect(isLong('{}')).toBe(false);
  expect(isLong(Array.from({ length: 18 }, () => '1').join('\n'))).toBe(false);
  expect(isLong(Array.from({ length: 19 }, () => '1').join('\n'))).toBe(true);
  expect(isLong('x'.repeat(1_201))).toBe(true);
});

test.each([
  ['ä', '2 B'],
  ['x'.repeat(1_500), '2 KiB'],
  ['x'.repeat(1_600_000), '1.5 MiB'],
])('the size is in bytes', (text, words) => expect(sizeWords(text)).toBe(words));

test('a long text shows its beginning', () => {
  expect(clampText('short')).toEqual({ shown: 'short', rest: 0 });
  const { shown, rest } = clampText('x'.repeat(2_000));
  expect([shown.length, rest]).toEqual([500, 1_500]);
});
