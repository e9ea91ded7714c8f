import { expect, test } from 'vitest';
import { errorSummary } from './error-summary.ts';

const of = (message: string) =>
  errorSummary({ code: 'TIMEOUT', message, stack: null, cause: null });

test.each([
  ['took too long', 'TIMEOUT: took too long'],
  ['  first\nsecond', 'TIMEOUT: first'],
  ['first\r\nsecond', 'TIMEOUT: first'],
  ['', 'TIMEOUT'],
])('%j is %j', (message, expected) => {
  expect(of(message)).toBe(expected);
});

test('there is none without an error', () => {
  expect(errorSummary(null)).toBeNull();
});

test('a long one ends after 200 characters, and not within one', () => {
  expect(of('x'.repeat(300))).toBe(`TIMEOUT: ${'x'.repeat(190)}…`);
  expect(of('🚢'.repeat(300))).toBe(`TIMEOUT: ${'🚢'.repeat(95)}…`);
});

test('the root cause follows, also after a long message', () => {
  const cause = { code: 'X', message: 'refused\nby it', stack: null, cause: null };
  const wrapped = (message: string) => ({ code: 'TIMEOUT', message, stack: null, cause });
  expect(errorSummary(wrapped('no answer'))).toBe('TIMEOUT: no answer ← refused');
  expect(errorSummary(wrapped('x'.repeat(300)))).toBe(`TIMEOUT: ${'x'.repeat(99)}… ← refused`);
});
