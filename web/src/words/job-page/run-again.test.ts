import { expect, test } from 'vitest';
import { madeJob } from '../made.fixture.ts';
import { mayRunAgain, readRunAgain } from './run-again.ts';

test.each([
  ['succeeded', 'hello', true],
  ['failed', 'hello', true],
  ['cancelled', 'hello', true],
  ['running', 'hello', false],
  ['failed', '$hook:hello', false],
  ['failed', '$webhook', false],
] as const)('a job that is %s, of %s', (status, definitionKey, may) => {
  expect(mayRunAgain(madeJob({ status, definitionKey }))).toBe(may);
});

test('the new job has the key, priority, tags and concurrency key of the old one', () => {
  const job = madeJob({ priority: 5, tags: ['eu'], concurrencyKey: 'k', idempotencyKey: 'once' });
  expect(readRunAgain(job, '{"a":1}')).toEqual({
    definitionKey: 'hello',
    params: { a: 1 },
    priority: 5,
    tags: ['eu'],
    concurrencyKey: 'k',
  });
  expect(readRunAgain(madeJob(), '1')).toEqual({ definitionKey: 'hello', params: 1 });
});

test('text that is no JSON, or that has redacted values, is refused', () => {
  expect(readRunAgain(madeJob(), '{')).toMatchObject({
    wrong: expect.stringMatching(/^Invalid JSON: [^:]*\.$/) as string,
  });
  expect(readRunAgain(madeJob(), '{"k":"[redacted]"}')).toMatchObject({
    wrong: expect.stringContaining('redacted') as string,
  });
});
