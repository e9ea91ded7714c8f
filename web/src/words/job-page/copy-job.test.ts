import { expect, test } from 'vitest';
import { madeJob } from '../made.fixture.ts';
import { copyOf, mayCopy } from './copy-job.ts';

test.each([
  ['succeeded', 'hello', true],
  ['failed', 'hello', true],
  ['cancelled', 'hello', true],
  ['running', 'hello', false],
  ['failed', '$hook:hello', false],
  ['failed', '$webhook', false],
] as const)('a job that is %s, of %s', (status, definitionKey, may) => {
  expect(mayCopy(madeJob({ status, definitionKey }))).toBe(may);
});

test('the new job has the key, priority, tags and concurrency key of the old one', () => {
  const job = madeJob({ priority: 5, tags: ['eu'], concurrencyKey: 'k', idempotencyKey: 'once' });
  expect(copyOf(job, { a: 1 })).toEqual({
    definitionKey: 'hello',
    params: { a: 1 },
    priority: 5,
    tags: ['eu'],
    concurrencyKey: 'k',
  });
  expect(copyOf(madeJob(), 1)).toEqual({ definitionKey: 'hello', params: 1 });
});
