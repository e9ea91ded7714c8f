import { expect, test } from 'vitest';
import { PLAIN_JOB } from '../../../test/support/plain-job.ts';
import type { JobView } from '../job/job.ts';
import { sentence } from './sentence.ts';

const NOW = new Date('2030-01-01T00:01:00Z');
const at = (second: string) => `2030-01-01T00:${second}Z`;
const boom = { code: 'HANDLER_ERROR', message: 'boom', stack: null, cause: null };
const ran = { attempts: 1, startedAt: at('00:58.000'), finishedAt: at('00:58.012') };

test.each<[expected: string, job: Partial<JobView>]>([
  ['held until it is released', { status: 'created' }],
  ['scheduled to run in 4m02s', { status: 'scheduled', runAt: at('05:02') }],
  ['scheduled to run now', { status: 'scheduled', runAt: at('00:59') }],
  ['queued for 10 s, waiting for a worker', {}],
  ['queued for 1.5 s, waiting for a worker', { queuedAt: at('00:58.500') }],
  ['queued for 10 s, paused', { warnings: [{ code: 'PAUSED', since: null }] }],
  [
    'queued for 10 s, and no worker has its definition',
    { warnings: [{ code: 'UNSERVED', since: null }] },
  ],
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
    'failed on attempt 3 of 3 in step "render": HANDLER_ERROR boom',
    {
      ...ran,
      attempts: 3,
      status: 'failed',
      error: { ...boom, step: { name: 'render', durationMs: 5, untilEndMs: 5 } },
    },
  ],
  [
    'failed before it ran: NO_HANDLER no worker',
    { status: 'failed', error: { ...boom, code: 'NO_HANDLER', message: 'no worker' } },
  ],
  ['cancelled before it ran', { status: 'cancelled' }],
  ['cancelled while it waited', { ...ran, attempts: 0, status: 'cancelled' }],
  [
    'failed while it waited: EXPIRED too late',
    {
      ...ran,
      attempts: 0,
      status: 'failed',
      error: { ...boom, code: 'EXPIRED', message: 'too late' },
    },
  ],
  ['cancelled on attempt 1 of 3', { ...ran, status: 'cancelled' }],
])('%s', (expected, job) => {
  expect(sentence({ ...PLAIN_JOB, ...job }, NOW)).toBe(expected);
});
