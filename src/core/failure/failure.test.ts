import { describe, expect, it, test } from 'vitest';
import { FAILURE_CODES, failureOf, isFailureCode, isRetryable } from './failure.ts';

/** Every failure code and whether it is retried, written by hand. */
const RETRYABLE = [
  'RATE_LIMITED',
  'UPSTREAM_5XX',
  'TIMEOUT',
  'STALLED',
  'NETWORK_ERROR',
  'HANDLER_ERROR',
  'CRASHED',
  'OUT_OF_MEMORY',
  'LEASE_EXPIRED',
];
const FINAL = [
  'PAYLOAD_INVALID',
  'PAYLOAD_TOO_LARGE',
  'PARAMS_UPGRADE_FAILED',
  'AUTHENTICATION_FAILED',
  'NOT_FOUND',
  'NO_HANDLER',
  'NON_RETRYABLE',
  'EXPIRED',
  'RESULT_INVALID',
  'RESULT_TOO_LARGE',
  'LARGE_VALUE_LOST',
  'INTERRUPTED',
  'CANNOT_DECRYPT',
  'SIGNAL_TIMEOUT',
  'PARENT_FAILED',
  'CHILDREN_FAILED',
  'BATCH_FAILED',
];

test('the codes are those of the design, no more and no fewer', () => {
  expect(Object.keys(FAILURE_CODES).sort()).toEqual([...RETRYABLE, ...FINAL].sort());
});

test.each(Object.entries(FAILURE_CODES))('%s has a sentence that explains it', (_, { meaning }) => {
  expect(meaning).toMatch(/^[A-Z].+\.$/);
});

describe('without retryOn', () => {
  it.each(RETRYABLE)('%s is tried again', (code) => expect(isRetryable(code, null)).toBe(true));
  it.each(FINAL)('%s is not tried again', (code) => expect(isRetryable(code, null)).toBe(false));
  it.each(['MY_OWN', '', 'toString', '__proto__'])('the unknown code "%s" is retried', (code) => {
    expect(isRetryable(code, null)).toBe(true);
  });
});

describe('with retryOn', () => {
  it.each([
    ['TIMEOUT', ['TIMEOUT'], true],
    ['NOT_FOUND', ['TIMEOUT', 'NOT_FOUND'], true],
    ['CRASHED', ['TIMEOUT'], false],
    ['HANDLER_ERROR', [], false],
    ['MY_OWN', ['TIMEOUT'], false],
  ])('%s under %j: %s', (code, retryOn, expected) => {
    expect(isRetryable(code, retryOn)).toBe(expected);
  });
});

test.each(['toString', '__proto__', 'hasOwnProperty', 'timeout', ''])(
  '"%s" is not a failure code',
  (text) => expect(isFailureCode(text)).toBe(false),
);

test('a failure made by hand has a code and a message, and nothing else', () => {
  const expected = { code: 'EXPIRED', message: 'too late', stack: null, cause: null };
  expect(failureOf('EXPIRED', 'too late')).toEqual(expected);
});
