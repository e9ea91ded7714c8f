import { expect, test } from 'vitest';
import { causeWords, errorRow, errorWords, failureWords } from './failure-words.ts';

const message = 'order 19 of shop a1b2c3d4 could not be imported';
const cause = 'column "vat_id" of relation "orders" does not exist\nat line 3';

test.each([
  [
    { code: 'HANDLER_ERROR', message, cause },
    'column "vat_id" of relation "orders" does not exist',
  ],
  [{ code: 'HANDLER_ERROR', message, cause: null }, message],
  [{ code: 'TIMEOUT', message: 'it ran too long', cause: null }, 'it ran too long (TIMEOUT)'],
  [{ code: 'TIMEOUT', message: '', cause: null }, 'TIMEOUT'],
])('%j broke because of: %s', (failure, words) => {
  expect(causeWords(failure)).toBe(words);
});

test('one failure keeps its numbers, a group does not', () => {
  const why = 'column "vat_id" of relation "orders" does not exist';
  expect(failureWords({ message, cause })).toBe(`${message} ← ${why}`);
  expect(failureWords({ message, cause }, true)).toBe(
    `order … of shop … could not be imported ← ${why}`,
  );
  expect(failureWords({ message: 'no answer from 10.0.0.7', cause: null }, true)).toBe(
    'no answer from 10.0.0.7',
  );
});

test('a row has the code and the root cause, a sentence has the message too', () => {
  const error = (text: string) => ({ code: 'X', message: text, stack: null, cause: null });
  const wrapped = { ...error(message), cause: { ...error('insert failed'), cause: error(cause) } };
  const why = 'column "vat_id" of relation "orders" does not exist';
  expect(errorRow(wrapped)).toBe(`X ${why}`);
  expect(errorWords(wrapped)).toBe(`X ${message} ← ${why}`);
  expect(errorRow(error('no answer\nat line 3'))).toBe('X no answer');
  expect(errorRow(error(''))).toBe('X');
  expect(errorWords(error(''))).toBe('X');
});

test('a message that repeats its cause is enough', () => {
  expect(failureWords({ message: 'not sent: refused', cause: 'refused' })).toBe(
    'not sent: refused',
  );
});
