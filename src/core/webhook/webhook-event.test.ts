import { expect, test } from 'vitest';
import type { JobView } from '../job/job.ts';
import { type DeliveryParams, jobEvent, jobThen, testEvent } from './webhook-event.ts';

const AT = '2026-01-31T08:00:00.123456+00:00';
const THEN = '2026-01-31T08:00:00.123Z';

const JOB: JobView = {
  jobId: 'j',
  definitionKey: 'a',
  definitionVersion: 1,
  tenant: 'acme',
  owner: null,
  status: 'succeeded',
  priority: 0,
  attempts: 2,
  maxAttempts: 3,
  tags: [],
  paramsShape: 1,
  currentParamsShape: 1,
  params: { n: 1 },
  result: { ok: true },
  error: null,
  errorSummary: null,
  progress: { fraction: 1, message: null },
  idempotencyKey: null,
  concurrencyKey: null,
  scheduleId: null,
  scheduledFor: null,
  waitsFor: null,
  warnings: [],
  createdAt: '2026-01-31T07:00:00.000Z',
  queuedAt: '2026-01-31T07:00:00.000Z',
  runAt: null,
  expiresAt: null,
  startedAt: '2026-01-31T08:00:05.000Z',
  finishedAt: '2026-01-31T08:00:06.000Z',
  updatedAt: '2026-01-31T08:00:06.000Z',
  heartbeatAt: null,
  leaseExpiresAt: null,
  cancelRequestedAt: null,
  workerId: null,
};
const ERROR = { code: 'TIMEOUT', message: 'slow', stack: null, cause: null };

const delivery = (changes: Partial<DeliveryParams>): DeliveryParams => ({
  webhookId: 'w',
  event: 'job.finished',
  jobId: 'j',
  at: AT,
  ...changes,
});

test('a job that has moved on is shown as it was', () => {
  const retrying = delivery({ status: 'retrying', attempts: 1, runAt: AT, error: ERROR });
  expect(jobThen(JOB, retrying)).toMatchObject({
    status: 'retrying',
    attempts: 1,
    result: null,
    error: ERROR,
    progress: null,
    runAt: THEN,
    finishedAt: null,
    updatedAt: THEN,
  });
  expect(jobThen(JOB, delivery({ status: 'running', attempts: 1 }))).toMatchObject({
    status: 'running',
    startedAt: THEN,
    finishedAt: null,
    result: null,
  });
});

test('a job that has not moved on is shown as it is', () => {
  expect(jobThen(JOB, delivery({ status: 'succeeded', attempts: 2 }))).toEqual({
    ...JOB,
    finishedAt: THEN,
    updatedAt: THEN,
  });
});

test('an event is a CloudEvent', () => {
  expect(jobEvent('d', delivery({ event: 'job.failed' }), JOB)).toEqual({
    specversion: '1.0',
    id: 'd',
    source: 'urn:longshore:tenant:acme',
    type: 'dev.longshore.job.failed',
    subject: 'j',
    time: THEN,
    datacontenttype: 'application/json',
    data: JOB,
  });
  expect(testEvent('d', delivery({ event: 'webhook.test', jobId: null }), 'acme')).toMatchObject({
    type: 'dev.longshore.webhook.test',
    subject: 'w',
    data: { webhookId: 'w' },
  });
});

test('what would be too large says so', () => {
  const large = jobEvent('d', delivery({}), { ...JOB, result: 'ä'.repeat(200_000) });
  expect(large).toMatchObject({ truncated: true, data: { params: null, result: null } });
  expect(JSON.stringify(large).length).toBeLessThan(2_000);
  expect(jobEvent('d', delivery({}), { ...JOB, result: 'a'.repeat(200_000) })).not.toHaveProperty(
    'truncated',
  );
});
