import { expect, test } from 'vitest';
import type { Job, WorkerInfo } from '../client/index.ts';
import { topText } from './top-text.ts';

const now = new Date('2030-01-01T00:01:00Z');

function job(definitionKey: string, changes: Partial<Job>): Job {
  const base = { jobId: `id-of-${definitionKey}`, definitionKey, attempts: 1, maxAttempts: 3 };
  return { ...base, progress: null, queuedAt: null, startedAt: null, ...changes } as Job;
}

const workers = [
  { status: 'alive', slots: 8, running: ['a', 'b'] },
  { status: 'dead', slots: 4, running: [] },
] as unknown as WorkerInfo[];

test('tells who works, what waits and what runs', () => {
  const progress = { fraction: 0.4, message: 'resizing' };
  const running = [
    job('resize', { status: 'running', startedAt: '2030-01-01T00:00:30Z', progress }),
    job('mail', { status: 'running', startedAt: '2030-01-01T00:00:59Z' }),
  ];
  const waiting = [
    job('mail', { status: 'queued', queuedAt: '2030-01-01T00:00:00Z' }),
    job('mail', { status: 'queued', queuedAt: '2030-01-01T00:00:50Z' }),
  ];
  expect(topText({ workers, running, waiting, failed: [], limit: 2 }, now, 100, 1)).toEqual([
    '1 worker   2 of 8 slots busy   2+ waiting   0 failed',
    '',
    'DEFINITION  WAITING  RUNNING  FAILED  OLDEST',
    'mail        2        1        0       1m',
    'resize      0        1        0       -',
    '',
    'RUNNING       DEFINITION  TRY  FOR   PROGRESS',
    'id-of-resize  resize      1/3  30 s  40 % resizing',
    '… 1 more',
  ]);
});
