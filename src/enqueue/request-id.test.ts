import { expect, test } from 'vitest';
import { isJobId, shardOfJobId, timeOfJobId } from '../core/job/job-id.ts';
import { jobIdOfRequest } from '../store/enqueue/request-job-id.ts';
import { isCurrent, REQUEST_MS_MAX } from './request-id.ts';

const REQUEST = '019a8c1e-7b60-7000-8000-00000000002a';
const OWNER = { tenant: 'acme', definitionKey: 'mail' };

test('a request has one job id, with its time and the shard of its queue', () => {
  const id = jobIdOfRequest(REQUEST, OWNER, 5);
  expect(isJobId(id)).toBe(true);
  expect(id).toBe(jobIdOfRequest(REQUEST, OWNER, 5));
  expect(timeOfJobId(id)).toBe(timeOfJobId(REQUEST));
  expect(shardOfJobId(id)).toBe(5);
});

test.each([
  ['another request', '019a8c1e-7b60-7000-8000-00000000002b', OWNER],
  ['another tenant', REQUEST, { ...OWNER, tenant: 'rival' }],
  ['another definition', REQUEST, { ...OWNER, definitionKey: 'fax' }],
])('%s has another job id', (_, request, owner) => {
  expect(jobIdOfRequest(request, owner, 5)).not.toBe(jobIdOfRequest(REQUEST, OWNER, 5));
});

test('a request is current for a day, in both directions', () => {
  const madeMs = timeOfJobId(REQUEST);
  for (const sign of [1, -1]) {
    expect(isCurrent(REQUEST, madeMs + sign * REQUEST_MS_MAX)).toBe(true);
    expect(isCurrent(REQUEST, madeMs + sign * (REQUEST_MS_MAX + 1))).toBe(false);
  }
});
