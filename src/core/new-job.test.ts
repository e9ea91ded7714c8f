import { describe, expect, it } from 'vitest';
import { type JobRequest, newJob, type PublishedDefaults } from './new-job.ts';

const ID = '019b76da-a800-7000-8000-000000000001';
const request: JobRequest = {
  tenant: 'acme',
  definitionKey: 'image.resize',
  definitionVersion: null,
  paramsJson: '{"b":1,"a":2}',
  priority: -3,
  maxAttempts: null,
  hold: true,
  runAt: new Date(5),
  delayMs: 7,
  concurrencyKey: null,
  idempotencyKey: 'k',
  tags: ['x'],
  policy: { timeoutMs: 9 },
};

describe('a new job', () => {
  type Row = [string, Partial<JobRequest>, PublishedDefaults | null, version: number, max: number];
  it.each<Row>([
    ['of an unknown definition', {}, null, 1, 3],
    ['of a published one', {}, { version: 4, maxAttempts: 9 }, 4, 9],
    ['with its own version', { definitionVersion: 2 }, { version: 4, maxAttempts: 9 }, 2, 9],
    ['with its own limit', { maxAttempts: 1 }, { version: 4, maxAttempts: 9 }, 4, 1],
    ['with both, unpublished', { definitionVersion: 8, maxAttempts: 2 }, null, 8, 2],
  ])('%s', (_, changes, published, definitionVersion, maxAttempts) => {
    const job = newJob(ID, { ...request, ...changes }, published);
    expect(job).toEqual({ ...request, id: ID, definitionVersion, maxAttempts });
  });
});
