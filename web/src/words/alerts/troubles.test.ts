import { expect, it, test } from 'vitest';
import type { DefinitionStats } from '../../../../src/core/views/stats.ts';
import {
  ago,
  madeDefinition,
  madeGroup,
  madeJob,
  madeAlert,
  madeSchedule,
  madeStats,
  madeWorker,
  NOW,
} from '../made.fixture.ts';
import type { Seen } from '../seen.ts';
import { troubles } from './troubles.ts';

const quiet: Seen = {
  workers: [madeWorker()],
  definitions: [madeDefinition()],
  pauses: [],
  failures: [],
  running: [madeJob({ status: 'running', leaseExpiresAt: ago(-10) })],
  schedules: [madeSchedule()],
  stats: { at: ago(0), definitions: [madeStats({ depth: 1, oldestAgeMs: 20_000 })] },
  alerts: [],
};
const shown = (over: Partial<Seen>) => troubles({ ...quiet, ...over }, NOW).map(({ text }) => text);

const stats = (...definitions: Partial<DefinitionStats>[]) => ({
  stats: { at: ago(0), definitions: definitions.map(madeStats) },
});
const waits = { ...madeStats().states, queued: 1 };
const stranded = { depth: 1, oldestAgeMs: 70_000, oldestJobId: 'x' };

const failed = (key: string, count = 1) =>
  madeGroup({ definitionKeys: [key], message: 'boom\nmore', count });
const slot = { slot: ago(60), local: '', status: 'fired', reason: null, through: null } as const;

it('is quiet when all is well, and before anything is there', () => {
  expect(shown({})).toEqual([]);
  expect(shown({ workers: [], definitions: [], ...stats() })).toEqual([]);
});

test.each([
  ['no worker', { workers: [madeWorker({ status: 'dead' })] }, /^No live worker/],
  [
    'a lost worker',
    { workers: [madeWorker({ leaseExpiresAt: ago(3), heartbeatAt: ago(40) })] },
    /40 s ago/,
  ],
  ['a lost job', { running: [madeJob({ leaseExpiresAt: ago(9) })] }, /lost its worker 9 s ago/],
  [
    'a job that no worker can run',
    stats({ depth: 2_501, unserved: stranded }),
    /^1 job of hello waits, but no worker/,
  ],
  ['a long wait', stats({ depth: 1, oldestAgeMs: 900_000 }), /the oldest for 15m/],
  [
    'a definition that no worker has, and that has work to do',
    {
      definitions: [madeDefinition(), madeDefinition({ key: 'lone' })],
      ...stats({ key: 'lone', states: { ...waits, queued: 0, retrying: 1 } }),
    },
    /^No worker has lone loaded/,
  ],
  [
    'an alert',
    { alerts: [madeAlert({ rule: 'retry-rate', message: '70 % of hello' })] },
    /^70 % of hello\.$/,
  ],
  [
    'a worker that died',
    { workers: [madeWorker(), madeWorker({ status: 'dead', lost: true, heartbeatAt: ago(40) })] },
    /^Worker box \(pid 7\) died; last heartbeat 40 s ago/,
  ],
  [
    'a job that seems stuck',
    { running: [madeJob({ status: 'running', startedAt: ago(90) })] },
    /seems stuck: running 1m30s of its 1m40s timeout/,
  ],
  [
    'a pause',
    { pauses: [{ scope: 'definition', name: 'hello', by: 'cli', reason: null, since: ago(5) }] },
    /^hello was paused 5 s ago by cli\. 1 job waits\.$/,
  ],
  ['failures', { failures: [failed('a', 2)] }, /^a failed 2 times: HANDLER_ERROR boom$/],
  ['a late schedule', { schedules: [madeSchedule({ nextAt: ago(90) })] }, /overdue by 1m30s/],
  [
    'a schedule whose job failed',
    { schedules: [madeSchedule({ lastSlot: { ...slot, jobId: 'x', jobStatus: 'failed' } })] },
    /^The last job of schedule nightly failed/,
  ],
] as const)('sees %s', (_, over, text) => {
  expect(shown(over)).toEqual([expect.stringMatching(text)]);
});

it.each([
  ['definition', 'hello', '3 jobs wait.'],
  ['definition', 'other', 'by cli.'],
  ['all', null, '1,203 jobs wait.'],
] as const)('counts what a pause of %s %s holds back', (scope, name, end) => {
  const pauses = [{ scope, name, by: 'cli', reason: null, since: ago(5) }];
  const counted = stats({ depth: 3 }, { key: 'mail', depth: 1_200 });
  expect(shown({ pauses, ...counted })).toEqual([expect.stringMatching(new RegExp(`${end}$`))]);
});

it('leaves paused schedules alone', () => {
  expect(shown({ schedules: [madeSchedule({ enabled: false, nextAt: ago(90) })] })).toEqual([]);
});

it('names the gravest kinds of failures, and counts the others', () => {
  const kinds = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((key) => failed(key));
  expect(shown({ failures: kinds })).toHaveLength(6);
  expect(shown({ failures: kinds }).at(-1)).toBe('2 more errors.');
});

it('names the owners of definitions that only a lost worker had', () => {
  const lost = madeWorker({ workerId: 'x', status: 'dead', lost: true, heartbeatAt: ago(40) });
  const definitions = [madeDefinition({ owner: 'team' }), madeDefinition({ key: 'b', owner: 'b' })];
  const workers = [madeWorker(), { ...lost, definitions: ['hello@1', 'b@1'] }];
  expect(troubles({ ...quiet, workers, definitions }, NOW)[0]?.owner).toBe('b');
});

it('tells of a dead worker for an hour, and longer while jobs wait for it', () => {
  const dead = { workerId: 'x', status: 'dead' as const, lost: true, definitions: ['lone@1'] };
  const at = (seconds: number) => [
    madeWorker(),
    madeWorker({ ...dead, heartbeatAt: ago(seconds) }),
  ];
  const died = /^Worker box \(pid 7\) died/;
  expect(shown({ workers: at(3_000) })).toEqual([expect.stringMatching(died)]);
  expect(shown({ workers: at(40_000) })).toEqual([]);
  const waiting = stats({ key: 'lone', depth: 1, states: waits, unserved: stranded });
  expect(shown({ workers: at(40_000), ...waiting })[0]).toMatch(died);
});

it('tells each thing once: what an alert says too is left to the better sentence', () => {
  const about = { definitionKey: 'hello' };
  const alerts = [
    madeAlert({ rule: 'no-worker', ...about }),
    madeAlert({ rule: 'oldest-age', ...about }),
    madeAlert({ rule: 'dead-letters', definitionKey: 'a' }),
    madeAlert({ rule: 'retries', status: 'resolved', ...about }),
  ];
  const failures = [failed('a', 2)];
  expect(shown({ alerts, failures, ...stats({ depth: 1, unserved: stranded }) })).toHaveLength(2);
});
