import { expect, test } from 'vitest';
import type { Problem, Seen } from '../../core/problems/problem.ts';
import type { DeadLetterGroup, PublishedDefinition, WorkerInfo } from '../../client/index.ts';
import { describeProblems } from './problems.ts';

const NOW = new Date('2030-01-01T12:00:00Z');
const DEFINITION = {
  key: 'mail',
  version: 1,
  owner: 'team-mail',
  runbookUrl: 'https://wiki.example.com/mail',
  timeoutSeconds: 100,
} as unknown as PublishedDefinition;
const WORKER = {
  status: 'active',
  definitions: ['mail@1'],
  jobs: [],
  notLoaded: [],
  heartbeatAt: NOW.toISOString(),
  leaseExpiresAt: '2030-01-01T12:01:00Z',
} as unknown as WorkerInfo;
const GROUP = {
  fingerprint: 'f',
  code: 'TIMEOUT',
  message: 'too slow\nmore',
  cause: null,
  count: 2_000,
  firstSeen: '2030-01-01T11:50:00Z',
  countIsExact: false,
  definitionKeys: ['mail'],
  jobId: 'j',
} as unknown as DeadLetterGroup;
const quiet = {
  workers: [WORKER],
  definitions: [DEFINITION],
  pauses: [],
  failures: [],
  running: [],
  schedules: [],
  stats: { at: NOW.toISOString(), definitions: [] },
  alerts: [],
  tenant: null,
  webhooks: [],
};
const described = (changes: Partial<Seen>) => {
  return describeProblems({ ...quiet, ...changes } as typeof quiet, NOW);
};

test('nothing is wrong', () => expect(described({})).toEqual([]));

test('a failure has its owner, runbook, error group and next step', () => {
  expect(described({ failures: [GROUP] })).toEqual([
    {
      problem: 'mail: 2,000+ failed, the first 10m ago: too slow (TIMEOUT)',
      owner: 'team-mail',
      runbook: ['https://wiki.example.com/mail'],
      fingerprint: 'f',
      nextStep: expect.stringContaining('timeoutSeconds') as string,
    },
  ]);
});

test.each<[Problem['kind'], Partial<Seen>, object]>([
  [
    'worker',
    { workers: [] },
    { nextStep: expect.stringContaining('npx longshore worker') as string },
  ],
  [
    'paused',
    { pauses: [{ scope: 'all', name: null, by: null, reason: 'night', since: NOW.toISOString() }] },
    { problem: 'Everything was paused 0 s ago: night.', nextStep: 'Resume it to run its jobs.' },
  ],
  [
    'schedule',
    {
      schedules: [
        {
          id: 's',
          name: 'late',
          definitionKey: 'mail',
          enabled: true,
          nextAt: '2030-01-01T11:58:00Z',
        },
      ] as unknown as Seen['schedules'],
    },
    { problem: expect.stringContaining('overdue by 2m') as string, scheduleId: 's' },
  ],
])('a problem of the kind %s says what to do', (_, changes, expected) => {
  expect(described(changes)).toMatchObject([expected]);
});
