import { describe, expect, it } from 'vitest';
import { type JobRequest, newJob, plainRequest, type PublishedDefaults } from './new-job.ts';

const ID = '019b76da-a800-7000-8000-000000000001';
const request: JobRequest = {
  ...plainRequest('acme', 'image.resize', '{"b":1,"a":2}'),
  priority: -3,
  hold: true,
  runAt: new Date(5),
  delayMs: 7,
  concurrencyKey: null,
  idempotencyKey: 'k',
  tags: ['x'],
  policy: { timeoutMs: 9 },
};

const published = (version: number, maxAttempts: number): PublishedDefaults => ({
  version,
  maxAttempts,
  publishedAt: '',
  paramsSchema: null,
});

describe('a new job', () => {
  type Row = [
    string,
    Partial<JobRequest>,
    PublishedDefaults | null,
    version: number,
    max: number | null,
  ];
  it.each<Row>([
    ['of an unknown definition, which its first claim asks', {}, null, 1, null],
    ['of a published one', {}, published(4, 9), 4, 9],
    ['with its own version', { definitionVersion: 2 }, published(4, 9), 2, 9],
    ['with its own limit', { maxAttempts: 1 }, published(4, 9), 4, 1],
    ['with both, unpublished', { definitionVersion: 8, maxAttempts: 2 }, null, 8, 2],
  ])('%s', (_, changes, defaults, definitionVersion, maxAttempts) => {
    const job = newJob(ID, { ...request, ...changes }, defaults);
    const { skipValidation: _s, requireRegistered: _r, paramsShape: _p, ...asked } = request;
    expect(job).toEqual({ ...asked, id: ID, definitionVersion, maxAttempts });
  });
});

describe('the shape of params is stored with the job', () => {
  it.each<[string, number | null, number | undefined, JobRequest['policy']]>([
    ['not for the first one', null, undefined, null],
    ['not for the first one, whatever the code has', 1, 3, null],
    ['as published', null, 2, { paramsShape: 2 }],
    ['as the caller says', 4, 2, { paramsShape: 4 }],
  ])('%s', (_, paramsShape, current, policy) => {
    const defaults = { ...published(1, 3), ...(current !== undefined && { paramsShape: current }) };
    const asked = { ...request, policy: null, paramsShape };
    expect(newJob(ID, asked, defaults).policy).toEqual(policy);
    const own = { ...request, policy: { timeoutMs: 9 }, paramsShape };
    expect(newJob(ID, own, defaults).policy).toEqual({ timeoutMs: 9, ...policy });
  });
});
