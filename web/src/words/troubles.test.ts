import { expect, it, test } from 'vitest';
import {
  ago,
  madeDefinition,
  madeGroup,
  madeJob,
  madeSchedule,
  madeWorker,
  NOW,
} from './made.fixture.ts';
import { type Seen, troubles } from './troubles.ts';

const quiet: Seen = {
  workers: [madeWorker()],
  definitions: [madeDefinition()],
  pauses: [],
  failures: [],
  queued: [madeJob({ queuedAt: ago(20) })],
  running: [madeJob({ status: 'running', leaseExpiresAt: ago(-10) })],
  schedules: [madeSchedule()],
  depths: [],
};
const told = (over: Partial<Seen>) => troubles({ ...quiet, ...over }, NOW).map(({ text }) => text);

const failed = (key: string, count = 1) =>
  madeGroup({ definitionKeys: [key], message: 'boom\nmore', count });
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
  ['a long wait', { queued: [madeJob({ queuedAt: ago(900) })] }, /the oldest for 15m/],
  [
    'a worker that died',
    { workers: [madeWorker(), madeWorker({ status: 'dead', lost: true, heartbeatAt: ago(40) })] },
    /^Worker box \(pid 7\) has died; it was last heard of 40 s ago/,
  ],
  [
    'a job that seems stuck',
    { running: [madeJob({ status: 'running', startedAt: ago(90) })] },
    /seems stuck: it has run for 1m30s of 1m40s/,
  ],
  [
    'a pause',
    { pauses: [{ scope: 'definition', name: 'hello', by: 'cli', reason: null, since: ago(5) }] },
    /^hello was paused 5 s ago by cli\. Jobs wait for it\.$/,
  ],
  ['failures', { failures: [failed('a', 2)] }, /^a failed 2 times: HANDLER_ERROR boom$/],
  ['a late schedule', { schedules: [madeSchedule({ nextAt: ago(90) })] }, /overdue by 1m30s/],
  [
    'a schedule whose job failed',
    { schedules: [madeSchedule({ lastSlot: { ...slot, jobId: 'x', jobStatus: 'failed' } })] },
    /^The last job of schedule nightly failed/,
  ],
] as const)('sees %s', (_, over, text) => {
  expect(told(over)).toEqual([expect.stringMatching(text)]);
});

it.each([
  ['definition', 'hello', '3 jobs wait for it.'],
  ['definition', 'other', 'by cli.'],
  ['all', null, '1,203 jobs wait for it.'],
] as const)('counts what a pause of %s %s holds back', (scope, name, end) => {
  const pauses = [{ scope, name, by: 'cli', reason: null, since: ago(5) }];
  const depths = [
    { key: 'hello', depth: 3 },
    { key: 'mail', depth: 1_200 },
  ];
  expect(told({ pauses, depths })).toEqual([expect.stringMatching(new RegExp(`${end}$`))]);
});

it('leaves paused schedules alone', () => {
  expect(told({ schedules: [madeSchedule({ enabled: false, nextAt: ago(90) })] })).toEqual([]);
});

it('names the gravest kinds of failures, and counts the others', () => {
  const kinds = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((key) => failed(key));
  expect(told({ failures: kinds })).toHaveLength(6);
  expect(told({ failures: kinds }).at(-1)).toBe('And 2 other kinds of failures.');
});

it('names who must know of a lost worker: those whose jobs nobody else can run', () => {
  const lost = madeWorker({ workerId: 'x', status: 'dead', lost: true, heartbeatAt: ago(40) });
  const definitions = [madeDefinition({ owner: 'team' }), madeDefinition({ key: 'b', owner: 'b' })];
  const workers = [madeWorker(), { ...lost, definitions: ['hello@1', 'b@1'] }];
  expect(troubles({ ...quiet, workers, definitions }, NOW)[0]?.owner).toBe('b');
});
