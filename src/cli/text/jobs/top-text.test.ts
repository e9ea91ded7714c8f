import { expect, test } from 'vitest';
import type { DefinitionStats, Job, Stats, WorkerInfo } from '../../../client/index.ts';
import { JOB_STATES } from '../../../core/job/job.ts';
import { topText } from './top-text.ts';

const now = new Date('2030-01-01T00:01:00Z');

function job(definitionKey: string, changes: Partial<Job>): Job {
  const base = { jobId: `id-of-${definitionKey}`, definitionKey, attempts: 1, maxAttempts: 3 };
  return { ...base, progress: null, queuedAt: null, startedAt: null, ...changes } as Job;
}

const workers = [
  { status: 'alive', slots: 8, running: ['a'], busy: 2 },
  { status: 'dead', slots: 4, running: [], busy: 0 },
] as unknown as WorkerInfo[];

const none = Object.fromEntries(JOB_STATES.map((state) => [state, 0])) as Stats['totals'];

function counts(key: string, oldestAgeMs: number | null, states: Partial<Stats['totals']>) {
  const running = (states.running ?? 0) + (states.cancelling ?? 0);
  return { key, oldestAgeMs, running, states: { ...none, ...states } } as DefinitionStats;
}

const still = [0, 0, 0, 0];
const throughput: Stats['throughput'] = {
  from: '2029-12-31T23:58:00.000Z',
  stepMs: 60_000,
  enqueued: [0, 1, 100, 40],
  started: still,
  succeeded: still,
  failed: still,
  cancelled: still,
  retried: still,
};

test('tells who works, what waits and what runs, with exact counts', () => {
  const progress = { fraction: 0.4, message: 'resizing' };
  const running = [
    job('resize', { status: 'running', startedAt: '2030-01-01T00:00:30Z', progress }),
    job('mail', { status: 'running', startedAt: '2030-01-01T00:00:59Z' }),
    job('mail', { status: 'running', startedAt: '2030-01-01T00:00:59Z' }),
  ];
  const definitions = [
    counts('approve', null, { suspended: 3 }),
    counts('idle', null, { succeeded: 9 }),
    counts('mail', 60_000, { queued: 2_400, retrying: 100, running: 300, failed: 1_200 }),
    counts('resize', null, { running: 1 }),
  ];
  const totals = {
    ...none,
    queued: 2_400,
    retrying: 100,
    running: 301,
    suspended: 3,
    failed: 1_200,
  };
  const seen = { at: '', issues: [], workers, running, totals, definitions, throughput };
  expect(topText(seen, now, 100, 17)).toEqual([
    '1 worker   2 of 8 slots busy   2500 waiting   3 suspended   1200 dead letters',
    '',
    'PER MINUTE  LAST 4 MIN  LAST MINUTE  THIS MINUTE  4 MIN',
    'enqueued    ▁▂█▄        100          40           141',
    'started     ▁▁▁▁        0            0            0',
    'succeeded   ▁▁▁▁        0            0            0',
    'failed      ▁▁▁▁        0            0            0',
    'retried     ▁▁▁▁        0            0            0',
    '',
    'DEFINITION  WAITING  RUNNING  SUSPENDED  DEAD LETTERS  OLDEST',
    'approve     0        0        3          0             -',
    'mail        2500     300      0          1200          1m',
    'resize      0        1        0          0             -',
    '',
    'RUNNING  DEFINITION  ATTEMPT  FOR   PROGRESS',
    'resize   resize      1/3      30 s  40 % resizing',
    '… 300 more',
  ]);
});

test('prints whole ids for programs', () => {
  const running = [job('mail', { status: 'running' })];
  const seen = { at: '', issues: [], workers, running, totals: none, definitions: [], throughput };
  expect(topText(seen, now, Infinity, null).at(-1)).toMatch(/^id-of-mail /);
});

test('begins with what needs attention', () => {
  const issue = {
    kind: 'waiting' as const,
    about: 'mail',
    text: '2 jobs wait.',
    owner: null,
    target: { at: 'workers' as const },
  };
  const seen = { at: '', workers, running: [], totals: none, definitions: [], throughput };
  const issues = Array.from({ length: 6 }, () => issue);
  expect(topText({ ...seen, issues }, now, 100, null).slice(1, 8)).toEqual([
    '',
    ...Array.from({ length: 4 }, () => 'mail: 2 jobs wait. → npx longshore workers'),
    '… 2 more: npx longshore issues',
    '',
  ]);
});

test('shows what there is room for, and how much is left out', () => {
  const definitions = Array.from({ length: 100 }, (_, n) =>
    counts(`d${n}`, null, { queued: n === 7 ? 500 : 1, failed: n }),
  );
  const running = Array.from({ length: 50 }, (_, n) => job(`j${n}`, { status: 'running' }));
  const totals = { ...none, running: 90 };
  const seen = { at: '', issues: [], workers, running, totals, definitions, throughput };
  const lines = topText(seen, now, 100, 30);
  expect(lines.length).toBe(30);
  const at = lines.findIndex((line) => line.startsWith('… '));
  expect(lines.slice(10, at).map((line) => line.split(' ')[0])).toEqual([
    'd7',
    ...Array.from({ length: 7 }, (_, n) => `d${93 + n}`),
  ]);
  expect(lines[at]).toBe('… 92 more: npx longshore definitions');
  expect(lines.at(-1)).toBe('… 82 more');
  const few = topText({ ...seen, definitions: definitions.slice(0, 3) }, now, 100, 30);
  expect([few.length, few.filter((line) => line.startsWith('… ')).length]).toEqual([30, 1]);
  expect(topText(seen, now, 100, null).filter((line) => line.startsWith('d')).length).toBe(20);
});
