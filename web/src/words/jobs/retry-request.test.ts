import { expect, test } from 'vitest';
import { readRetry } from './retry-request.ts';

const SHOWN = '{\n  "token": "[redacted]",\n  "n": 1\n}';

test('params that nobody touched are not sent, hidden ones least of all', () => {
  expect(readRetry('reset', SHOWN, SHOWN)).toEqual({ mode: 'reset' });
});

test('other params are sent as they were written', () => {
  expect(readRetry('now', '{"n":2}', SHOWN)).toEqual({ mode: 'now', params: { n: 2 } });
});

test.each([
  ['{', /no JSON/],
  [SHOWN.replace('1', '2'), /hidden/],
])('%j is told to be wrong', (text, wrong) => {
  expect(readRetry('now', text, SHOWN)).toEqual({ wrong: expect.stringMatching(wrong) as string });
});
