import { expect, test } from 'vitest';
import { PLAIN_JOB } from '../../../../test/support/plain-job.ts';
import type { Job, WorkerInfo } from '../../../client/index.ts';
import { jobText } from './job-text.ts';

const NOW = new Date('2030-01-01T00:01:00Z');
const ran = {
  attempts: 1,
  startedAt: '2030-01-01T00:00:58.000Z',
  finishedAt: '2030-01-01T00:00:58.012Z',
};

test('show prints the sentence first, then what is known', () => {
  const job: Job = {
    ...PLAIN_JOB,
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
  const lines = jobText({ ...PLAIN_JOB, ...ran, status: 'failed', error }, NOW);
  expect(lines[0]).toBe('failed on attempt 1 of 3: HANDLER_ERROR boom\\u001b[2J ← refused');
  expect(lines.slice(-3)).toEqual([
    'error       HANDLER_ERROR boom\\u001b[2J',
    '                at run (jobs/a.ts:3:9)',
    '            caused by NETWORK_ERROR refused',
  ]);
});

test('a worker has its name, and the id for commands', () => {
  const job: Job = { ...PLAIN_JOB, status: 'running', workerId: 'w-1' };
  const worker = { workerId: 'w-1', host: 'vm', pid: 1080 } as WorkerInfo;
  expect(jobText(job, NOW, [worker])).toContain('worker      vm (pid 1080), w-1');
  expect(jobText(job, NOW, [])).toContain('worker      w-1');
});
