import { expect, test } from 'vitest';
import { ago, madeJob, NOW } from '../made.fixture.ts';
import { headline } from './headline.ts';

const error = { code: 'HANDLER_ERROR', message: 'no\u001b[31m room', stack: null, cause: null };

test.each([
  [{ status: 'failed', attempts: 3, error }, 'Failed on attempt 3 of 3: no room'],
  [
    { status: 'failed', attempts: 1, error: { ...error, cause: { ...error, message: 'full' } } },
    'Failed on attempt 1 of 3: full',
  ],
  [
    { status: 'failed', attempts: 1, error: { ...error, code: 'TIMEOUT' } },
    'Failed on attempt 1 of 3: no room (TIMEOUT)',
  ],
  [
    {
      status: 'failed',
      attempts: 1,
      error: { ...error, step: { name: 'render', durationMs: 1, untilEndMs: 1 } },
    },
    'Failed on attempt 1 of 3 in step "render": no room',
  ],
  [
    { status: 'retrying', attempts: 1, error, runAt: ago(-5) },
    'Retrying in 5 s: attempt 1 of 3 failed: no room',
  ],
  [
    { status: 'queued', queuedAt: ago(2), warnings: [{ code: 'PAUSED', since: null }] },
    'Queued for 2 s, paused',
  ],
] as const)('%j', (job, words) => expect(headline(madeJob(job as never), NOW)).toBe(words));
