import { expect, test } from 'vitest';
import { failureGroups } from './failure-groups.ts';
import { ago, madeJob } from './made.fixture.ts';

const failed = (jobId: string, definitionKey: string, message: string, seconds: number) =>
  madeJob({
    jobId,
    definitionKey,
    owner: 'team',
    status: 'failed',
    finishedAt: ago(seconds),
    error: { code: 'HANDLER_ERROR', message, stack: null, cause: null },
  });

test('failures that look alike are one, and the newest of them stands for all', () => {
  const groups = failureGroups([
    failed('1', 'mail', 'invoice 17 for "amy" failed', 30),
    failed('2', 'mail', 'invoice 4 for "bob" failed', 10),
    failed('3', 'mail', 'no route to host', 5),
    failed('4', 'sync', 'invoice 4 for "bob" failed', 20),
  ]);
  expect(groups.map(({ jobId, count, definitionKey }) => [jobId, count, definitionKey])).toEqual([
    ['2', 2, 'mail'],
    ['3', 1, 'mail'],
    ['4', 1, 'sync'],
  ]);
  expect(groups[0]).toMatchObject({ message: 'invoice 4 for "bob" failed', lastAt: ago(10) });
});

test('a job without an error is a group too', () => {
  expect(failureGroups([madeJob({ status: 'failed' })])[0]?.code).toBe('UNKNOWN');
});
