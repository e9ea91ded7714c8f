import { expect, it } from 'vitest';
import { jobWords } from './delivery-words.ts';

const jobId = '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400';

it.each([
  [{ data: { definitionKey: 'mail.send' } }, 'mail.send 5a4f3c2e1400'],
  [{ data: { definitionKey: 7 } }, 'job 5a4f3c2e1400'],
  [{ data: null }, 'job 5a4f3c2e1400'],
  [{}, 'job 5a4f3c2e1400'],
  [null, 'job 5a4f3c2e1400'],
])('with the body %j, it is about %s', (request, words) => {
  expect(jobWords({ jobId, request })).toBe(words);
});

it('a test is about no job', () => {
  expect(jobWords({ jobId: null, request: {} })).toBe(null);
});
