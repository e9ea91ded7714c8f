import { expect, test } from 'vitest';
import { sendReason } from './send-words.ts';

const NO_MAIL = { status: null, error: 'no mail server', responseBody: null };
const REFUSED = { status: 403, error: null, responseBody: 'wrong token' };

test.each([
  ['before the first attempt', [], null],
  ['without an answer', [REFUSED, NO_MAIL], 'no mail server'],
  ['with an answer', [NO_MAIL, REFUSED], '403 wrong token'],
  ['with nothing', [{ status: null, error: null, responseBody: null }], 'no response'],
])('the reason of a message %s', (_when, attempts, reason) => {
  expect(sendReason(attempts)).toBe(reason);
});
