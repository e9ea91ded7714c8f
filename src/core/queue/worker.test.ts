import { describe, expect, it, test } from 'vitest';
import {
  isWorkerId,
  mergeWorkers,
  statusWord,
  takesNoJobs,
  type WorkerStatus,
  type WorkerView,
} from './worker.ts';

const at = (minute: number) => `2030-01-01T00:${String(minute).padStart(2, '0')}:00.000Z`;

function row(workerId: string, changes: Partial<WorkerView> = {}): WorkerView {
  return {
    workerId,
    host: 'h',
    pid: 1,
    version: '0',
    slots: 8,
    running: [],
    jobs: [],
    busy: 0,
    heartbeatAt: at(5),
    leaseExpiresAt: at(6),
    startedAt: at(1),
    status: 'active',
    definitions: [],
    notLoaded: [],
    lost: false,
    endedBy: null,
    transport: 'database',
    tenant: null,
    keyId: null,
    address: null,
    turnAt: null,
    ...changes,
  };
}

describe('the rows of a worker in several shards', () => {
  it('become one', () => {
    const rows = [
      row('a', { running: ['x'], heartbeatAt: at(5), leaseExpiresAt: at(9), startedAt: at(2) }),
      row('a', { running: ['y', 'z'], heartbeatAt: at(7), leaseExpiresAt: at(8), lost: true }),
    ];
    expect(mergeWorkers(rows)).toEqual([
      row('a', { running: ['x', 'y', 'z'], heartbeatAt: at(7), leaseExpiresAt: at(8), lost: true }),
    ]);
  });

  it('know how its process ended, unless it lives', () => {
    const killed = { status: 'dead', lost: true, endedBy: 'SIGKILL' } as const;
    expect(mergeWorkers([row('a', { status: 'dead' }), row('a', killed)])).toMatchObject([killed]);
    const alive = { status: 'active', lost: false, endedBy: null };
    expect(mergeWorkers([row('a', killed), row('a')])).toMatchObject([alive]);
  });

  test.each<[WorkerStatus, WorkerStatus, WorkerStatus]>([
    ['active', 'active', 'active'],
    ['active', 'draining', 'draining'],
    ['draining', 'active', 'draining'],
    ['active', 'dead', 'active'],
    ['dead', 'draining', 'draining'],
    ['dead', 'dead', 'dead'],
  ])('%s and %s are %s', (one, other, status) => {
    const rows = [row('a', { status: one }), row('a', { status: other })];
    expect(mergeWorkers(rows)).toMatchObject([{ status }]);
  });
});

it('lists those that live first, the newest first among equals', () => {
  const rows = [
    row('old', { startedAt: at(1) }),
    row('dead', { startedAt: at(4), status: 'dead' }),
    row('new', { startedAt: at(3), status: 'draining' }),
  ];
  expect(mergeWorkers(rows).map(({ workerId }) => workerId)).toEqual(['new', 'old', 'dead']);
});

test.each([
  ['0b1c2d3e-4f50-4a6b-8c7d-9e0f1a2b3c4d', true],
  ['0B1C2D3E-4F50-4A6B-8C7D-9E0F1A2B3C4D', false],
  ['0b1c2d3e4f504a6b8c7d9e0f1a2b3c4d', false],
  ['..', false],
  ['', false],
])('%j is an id of a worker: %s', (text, expected) => {
  expect(isWorkerId(text)).toBe(expected);
});

test.each([
  [{ transport: 'http', turnAt: at(4) }, 5, false],
  [{ transport: 'http', turnAt: at(3) }, 5, true],
  [{ transport: 'http', turnAt: null }, 5, true],
  [{ transport: 'http', turnAt: null }, 1, false],
  [{ transport: 'http', turnAt: at(3), busy: 8 }, 5, false],
  [{ transport: 'http', turnAt: at(3), status: 'draining' }, 5, false],
  [{ transport: 'database', turnAt: null }, 5, false],
] as const)('%j takes no jobs at minute %i: %s', (changes, minute, expected) => {
  const worker = row('a', changes);
  expect(takesNoJobs(worker, Date.parse(at(minute)))).toBe(expected);
});

test.each([
  ['dead', false, 'stopped'],
  ['dead', true, 'dead'],
  ['active', false, 'active'],
  ['draining', false, 'draining'],
] as const)('%s, lost %s, is shown as %s', (status, lost, word) => {
  expect(statusWord({ status, lost })).toBe(word);
});
