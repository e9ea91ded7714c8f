import { expect, it, test } from 'vitest';
import { ago, madeDefinition, madeJob, madeSchedule, madeWorker, NOW } from './made.fixture.ts';
import { type Seen, troubles } from './troubles.ts';

const quiet: Seen = {
  workers: [madeWorker()],
  definitions: [madeDefinition()],
  failed: [],
  queued: [madeJob({ queuedAt: ago(20) })],
  running: [madeJob({ status: 'running', leaseExpiresAt: ago(-10) })],
  schedules: [madeSchedule()],
};
const told = (over: Partial<Seen>) => troubles({ ...quiet, ...over }, NOW).map(({ text }) => text);

const boom = { code: 'HANDLER_ERROR', message: 'boom\nmore', stack: null, cause: null };
const failed = (definitionKey: string) => madeJob({ definitionKey, status: 'failed', error: boom });
const slot = { slot: ago(60), local: '', status: 'fired', reason: null, through: null } as const;

it('is quiet when all is well, and before anything is there', () => {
  expect(told({})).toEqual([]);
  expect(told({ workers: [], definitions: [], queued: [] })).toEqual([]);
});

test.each([
  ['no worker', { workers: [madeWorker({ status: 'dead' })] }, /^No worker is alive/],
  [
    'a lost worker',
    { workers: [madeWorker({ leaseExpiresAt: ago(3), heartbeatAt: ago(40) })] },
    /40 s ago/,
  ],
  ['a lost job', { running: [madeJob({ leaseExpiresAt: ago(9) })] }, /lost its worker 9 s ago/],
  [
    'a job that nobody can run',
    { queued: [madeJob({ warnings: [{ code: 'UNHANDLED', since: null }] })] },
    /^1 job of hello waits, and no worker/,
  ],
  ['a long wait', { queued: [madeJob({ queuedAt: ago(900) })] }, /the oldest for 15m00s/],
  ['failures', { failed: [failed('a'), failed('a')] }, /^a failed 2 times: HANDLER_ERROR boom$/],
  ['a late schedule', { schedules: [madeSchedule({ nextAt: ago(90) })] }, /overdue by 1m30s/],
  [
    'a schedule whose job failed',
    { schedules: [madeSchedule({ lastSlot: { ...slot, jobId: 'x', jobStatus: 'failed' } })] },
    /^The last job of schedule nightly failed/,
  ],
] as const)('sees %s', (_, over, text) => {
  expect(told(over)).toEqual([expect.stringMatching(text)]);
});

it('leaves paused schedules alone', () => {
  expect(told({ schedules: [madeSchedule({ enabled: false, nextAt: ago(90) })] })).toEqual([]);
});

it('names the gravest kinds of failures, and counts the others', () => {
  const kinds = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(failed);
  expect(told({ failed: kinds })).toHaveLength(6);
  expect(told({ failed: kinds }).at(-1)).toBe('And 2 other kinds of failures.');
});
