import { expect, test } from 'vitest';
import { validLocale } from './locale.ts';

test.each([
  ['de', 'de'],
  ['en-US', 'en-US'],
  ['en-US@posix', 'en-US'],
  ['de_DE.UTF-8', 'de-DE'],
  ['C', 'en-GB'],
  ['', 'en-GB'],
  [undefined, 'en-GB'],
])('for the language %s numbers are written in %s', (language, locale) => {
  expect(validLocale(language)).toBe(locale);
  expect(new Intl.NumberFormat(locale).format(1)).toBe('1');
});
