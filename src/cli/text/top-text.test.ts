import { expect, test } from 'vitest';
import type { DefinitionStats, Job, Stats, WorkerInfo } from '../../client/index.ts';
import { JOB_STATES } from '../../core/job/job.ts';
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

const none = Object.fromEntries(JOB_STATES.map((state) => [state, 0])) as Stats['totals'];

function counts(key: string, oldestAgeMs: number | null, states: Partial<Stats['totals']>) {
  const running = (states.running ?? 0) + (states.cancelling ?? 0);
  return { key, oldestAgeMs, running, states: { ...none, ...states } } as DefinitionStats;
}

test('tells who works, what waits and what runs, with exact counts', () => {
  const progress = { fraction: 0.4, message: 'resizing' };
  const running = [
    job('resize', { status: 'running', startedAt: '2030-01-01T00:00:30Z', progress }),
    job('mail', { status: 'running', startedAt: '2030-01-01T00:00:59Z' }),
  ];
  const definitions = [
    counts('idle', null, { succeeded: 9 }),
    counts('mail', 60_000, { queued: 2_400, retrying: 100, running: 300, failed: 1_200 }),
    counts('resize', null, { running: 1 }),
  ];
  const totals = { ...none, queued: 2_400, retrying: 100, running: 301, failed: 1_200 };
  expect(topText({ workers, running, totals, definitions }, now, 100, 1)).toEqual([
    '1 worker   2 of 8 slots busy   2500 waiting   1200 failed',
    '',
    'DEFINITION  WAITING  RUNNING  FAILED  OLDEST',
    'mail        2500     300      1200    1m',
    'resize      0        1        0       -',
    '',
    'RUNNING       DEFINITION  ATTEMPT  FOR   PROGRESS',
    'id-of-resize  resize      1/3      30 s  40 % resizing',
    '… 300 more',
  ]);
});
