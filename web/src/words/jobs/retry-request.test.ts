import { expect, test } from 'vitest';
import { readRetry } from './retry-request.ts';

const SHOWN = '{\n  "token": "[redacted]",\n  "n": 1\n}';

test('unchanged params are not sent, redacted ones neither', () => {
  expect(readRetry('reset', SHOWN, SHOWN)).toEqual({ mode: 'reset' });
});

test('other params are sent as they were written', () => {
  expect(readRetry('now', '{"n":2}', SHOWN)).toEqual({ mode: 'now', params: { n: 2 } });
});

test.each([
  ['{', /^Invalid JSON: (?!.*JSON: )[A-Z][^.]*\.$/],
  [SHOWN.replace('1', '2'), /redacted/],
])('%j is reported as wrong', (text, wrong) => {
  expect(readRetry('now', text, SHOWN)).toEqual({ wrong: expect.stringMatching(wrong) as string });
});
