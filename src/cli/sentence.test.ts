import { expect, test } from 'vitest';
import type { Job } from '../client/index.ts';
import { jobText } from './job-text.ts';
import { sentence } from '../core/sentence.ts';

const NOW = new Date('2030-01-01T00:01:00Z');
const at = (second: string) => `2030-01-01T00:${second}Z`;

const plain: Job = {
  jobId: '01980000-0000-7000-8000-000000000000',
  definitionKey: 'hello',
  definitionVersion: 1,
  tenant: 'default',
  owner: null,
  status: 'queued',
  priority: 0,
  attempts: 0,
  maxAttempts: 3,
  tags: [],
  params: {},
  result: null,
  error: null,
  progress: null,
  idempotencyKey: null,
  concurrencyKey: null,
  scheduleId: null,
  scheduledFor: null,
  warnings: [],
  createdAt: at('00:50'),
  queuedAt: null,
  runAt: null,
  expiresAt: null,
  startedAt: null,
  finishedAt: null,
  updatedAt: at('00:50'),
  heartbeatAt: null,
  leaseExpiresAt: null,
  cancelRequestedAt: null,
  workerId: null,
};
const boom = { code: 'HANDLER_ERROR', message: 'boom', stack: null, cause: null };
const ran = { attempts: 1, startedAt: at('00:58.000'), finishedAt: at('00:58.012') };

test.each<[expected: string, job: Partial<Job>]>([
  ['held until it is released', { status: 'created' }],
  ['scheduled to run in 4m02s', { status: 'scheduled', runAt: at('05:02') }],
  ['scheduled to run now', { status: 'scheduled', runAt: at('00:59') }],
  ['queued for 10 s, waiting for a worker', {}],
  ['queued for 1.5 s, waiting for a worker', { queuedAt: at('00:58.500') }],
  ['running attempt 1 of 3 for 2 s', { ...ran, status: 'running' }],
  [
    'running attempt 1 of 3 for 2 s, 42 %, page 3',
    { ...ran, status: 'running', progress: { fraction: 0.429, message: 'page 3' } },
  ],
  [
    'retrying in 4 s: attempt 1 of 3 failed: HANDLER_ERROR boom',
    { ...ran, status: 'retrying', runAt: at('01:04'), error: boom },
  ],
  [
    'cancelling attempt 1 of 3, asked to stop 2 s ago',
    { ...ran, status: 'cancelling', cancelRequestedAt: at('00:58') },
  ],
  ['succeeded on attempt 1 of 3 in 12 ms', { ...ran, status: 'succeeded' }],
  [
    'failed on attempt 3 of 3: HANDLER_ERROR boom',
    { ...ran, attempts: 3, status: 'failed', error: boom },
  ],
  [
    'failed before it ran: NO_HANDLER nobody',
    { status: 'failed', error: { ...boom, code: 'NO_HANDLER', message: 'nobody' } },
  ],
  ['cancelled before it ran', { status: 'cancelled' }],
  ['cancelled on attempt 1 of 3', { ...ran, status: 'cancelled' }],
])('%s', (expected, job) => {
  expect(sentence({ ...plain, ...job }, NOW)).toBe(expected);
});

test('show prints the sentence first, then what is known', () => {
  const job: Job = {
    ...plain,
    ...ran,
    status: 'succeeded',
    tags: ['a', 'b'],
    params: { name: 'Ada' },
    result: { greeting: 'hi' },
  };
  expect(jobText(job, NOW)).toEqual([
    'succeeded on attempt 1 of 3 in 12 ms',
    '',
    'id          01980000-0000-7000-8000-000000000000',
    'definition  hello version 1',
    'tags        a, b',
    'created     2030-01-01T00:00:50Z (10 s ago)',
    'started     2030-01-01T00:00:58.000Z (2 s ago)',
    'finished    2030-01-01T00:00:58.012Z (1.9 s ago)',
    'params      {"name":"Ada"}',
    'result      {"greeting":"hi"}',
  ]);
});

test('an error shows its frames and causes, and no control characters', () => {
  const cause = { code: 'NETWORK_ERROR', message: 'refused', stack: null, cause: null };
  const stack = 'Error: boom\u001b[2J\n    at run (jobs/a.ts:3:9)';
  const error = { code: 'HANDLER_ERROR', message: 'boom\u001b[2J', stack, cause };
  const lines = jobText({ ...plain, ...ran, status: 'failed', error }, NOW);
  expect(lines[0]).toBe('failed on attempt 1 of 3: HANDLER_ERROR boom\\u001b[2J');
  expect(lines.slice(-3)).toEqual([
    'error       HANDLER_ERROR boom\\u001b[2J',
    '                at run (jobs/a.ts:3:9)',
    '            caused by NETWORK_ERROR refused',
  ]);
});
