import { describe, expect, it, test } from 'vitest';
import type { DefinitionStats } from '../views/stats.ts';
import {
  ago,
  madeDefinition,
  madeGroup,
  madeHeld,
  madeJob,
  madeAlert,
  madeSchedule,
  madeStats,
  madeWebhook,
  madeWorker,
  NOW,
} from '../../../web/src/words/made.fixture.ts';
import { failureOf } from '../failure/failure.ts';
import type { Seen } from './problem.ts';
import { problemsOf } from './problems.ts';

const quiet: Seen = {
  workers: [madeWorker()],
  definitions: [madeDefinition()],
  pauses: [],
  failures: [],
  running: [madeJob({ status: 'running', leaseExpiresAt: ago(-10) })],
  schedules: [madeSchedule()],
  stats: { at: ago(0), definitions: [madeStats({ depth: 1, oldestAgeMs: 20_000 })] },
  alerts: [],
  tenant: null,
  webhooks: [],
};
const shown = (over: Partial<Seen>) =>
  problemsOf({ ...quiet, ...over }, NOW).map(({ text }) => text);

const stats = (...definitions: Partial<DefinitionStats>[]) => ({
  stats: { at: ago(0), definitions: definitions.map(madeStats) },
});
const waits = { ...madeStats().states, queued: 1 };
const stranded = { depth: 1, oldestAgeMs: 70_000, oldestJobId: 'x' };

const failed = (key: string, count = 1) =>
  madeGroup({ definitionKeys: [key], message: 'boom\nmore', count });
const NO_COUNT = { heldBackJobs: null, paused: null, failedJobs: 0 };
const slot = { slot: ago(60), local: '', status: 'fired', reason: null, through: null } as const;

it('is quiet when all is well, and before anything is there', () => {
  expect(shown({})).toEqual([]);
  expect(shown({ workers: [], definitions: [], ...stats() })).toEqual([]);
});

test.each([
  ['no worker', { workers: [madeWorker({ status: 'dead' })] }, /^No live worker: 1 job waits\.$/],
  [
    'no worker, because the last one died',
    { workers: [madeWorker({ status: 'dead', lost: true, heartbeatAt: ago(40) })], ...stats() },
    /^No live worker: no job can run\. Worker box \(pid 7\) died 40 s ago\.$/,
  ],
  [
    'a lost worker',
    { workers: [madeWorker({ leaseExpiresAt: ago(3), heartbeatAt: ago(40) })] },
    /^Worker box \(pid 7\) is silent; last heartbeat 40 s ago\.$/,
  ],
  [
    'a file that a worker could not load',
    { workers: [madeWorker({ notLoaded: ['jobs/bad.ts: Error: boom'] })] },
    /^Worker box \(pid 7\) could not load jobs\/bad\.ts: Error: boom\.$/,
  ],
  [
    'a file that all workers could not load',
    { workers: [1, 2].map(() => madeWorker({ notLoaded: ['jobs/bad.ts: Error: boom.'] })) },
    /^2 workers could not load jobs\/bad\.ts: Error: boom\.$/,
  ],
  [
    'a lost job',
    { running: [madeJob({ leaseExpiresAt: ago(9) })] },
    /^1 job stranded: the lease of the worker expired 9 s ago/,
  ],
  [
    'the jobs of a silent worker',
    {
      workers: [
        madeWorker({
          leaseExpiresAt: ago(3),
          heartbeatAt: ago(40),
          jobs: [madeHeld(), madeHeld()],
        }),
      ],
    },
    /^2 jobs stranded: worker box \(pid 7\) is silent; last heartbeat 40 s ago\.$/,
  ],
  [
    'a job that no worker can run',
    stats({ depth: 2_501, unserved: stranded }),
    /^1 job waits: no worker has this definition\.$/,
  ],
  ['a long wait', stats({ depth: 1, oldestAgeMs: 900_000 }), /^1 job waits, for 15m\.$/],
  [
    'a long wait for slots',
    {
      workers: [madeWorker({ busy: 4 })],
      ...stats({ depth: 1_200, oldestAgeMs: 900_000 }),
    },
    /^1,200 jobs wait, the oldest for 15m: all 4 slots of its workers are busy\.$/,
  ],
  [
    'a long wait for slots that its own jobs hold',
    {
      workers: [madeWorker({ busy: 4, jobs: [1, 2, 3].map(() => madeHeld()) })],
      ...stats({ depth: 2, oldestAgeMs: 900_000 }),
    },
    /: all 4 slots of its workers are busy, 3 with hello\.$/,
  ],
  [
    'a long wait for a definition that became slow',
    {
      workers: [
        madeWorker({ busy: 4, jobs: [26, 27, 30].map((s) => madeHeld({ startedAt: ago(s) })) }),
      ],
      ...stats({
        depth: 1_200,
        oldestAgeMs: 900_000,
        runMs: { p50: { from: 25, to: 27 }, p95: { from: 30, to: 35 }, p99: null },
      }),
    },
    /for 15m: runs take ≈ 27 s now, and took ≈ 27 ms before: all 4 slots .* 3 with hello\.$/,
  ],
  [
    'a long wait for a definition that was always slow',
    {
      workers: [madeWorker({ busy: 4, jobs: [madeHeld({ startedAt: ago(27) })] })],
      ...stats({
        depth: 2,
        oldestAgeMs: 900_000,
        runMs: { p50: { from: 20_000, to: 23_000 }, p95: { from: 30_000, to: 35_000 }, p99: null },
      }),
    },
    /for 15m: all 4 slots of its workers are busy/,
  ],
  [
    'a long wait at the limit of the tenant',
    {
      tenant: { tenant: 'acme', concurrencyLimit: 1, inUse: 1 },
      ...stats({ depth: 394, oldestAgeMs: 349_000 }),
    },
    /^394 jobs wait, the oldest for 5m49s: tenant acme may run 1 job at a time\.$/,
  ],
  [
    'another tenant',
    {
      tenant: { tenant: 'default', concurrencyLimit: null, inUse: 0 },
      tenants: [
        {
          tenant: 'default',
          firingAlerts: 3,
          concurrencyLimit: 1,
          heldBackMs: 600_000,
          ...NO_COUNT,
        },
        { tenant: 'acme', firingAlerts: 1, concurrencyLimit: null, heldBackMs: null, ...NO_COUNT },
        { tenant: 'quiet', firingAlerts: 0, concurrencyLimit: 2, heldBackMs: 299_000, ...NO_COUNT },
      ],
    },
    /^Tenant acme: 1 firing alert\.$/,
  ],
  [
    'another tenant with failed jobs, below the thresholds of its alerts',
    {
      tenant: { tenant: 'default', concurrencyLimit: null, inUse: 0 },
      tenants: [
        {
          tenant: 'acme',
          firingAlerts: 0,
          concurrencyLimit: null,
          heldBackMs: null,
          ...NO_COUNT,
          failedJobs: 3,
        },
      ],
    },
    /^Tenant acme: 3 jobs failed in the last day\.$/,
  ],
  [
    'another tenant at its limit',
    {
      tenant: { tenant: 'default', concurrencyLimit: null, inUse: 0 },
      tenants: [
        {
          tenant: 'acme',
          firingAlerts: 1,
          concurrencyLimit: 1,
          heldBackMs: 349_000,
          failedJobs: 0,
          heldBackJobs: { count: 40, isExact: true },
          paused: null,
        },
      ],
    },
    /^Tenant acme: 40 jobs wait, the oldest for 5m49s: it may run 1 job at a time; 1 firing alert\.$/,
  ],
  [
    'another tenant with more jobs than are counted',
    {
      tenant: { tenant: 'default', concurrencyLimit: null, inUse: 0 },
      tenants: [
        {
          tenant: 'acme',
          firingAlerts: 0,
          concurrencyLimit: 4,
          heldBackMs: 349_000,
          failedJobs: 0,
          heldBackJobs: { count: 1_000, isExact: false },
          paused: null,
        },
      ],
    },
    /^Tenant acme: 1,000\+ jobs wait, the oldest for 5m49s: it may run 4 jobs at a time\.$/,
  ],
  [
    'a job past its timeout',
    { workers: [madeWorker({ jobs: [madeHeld({ startedAt: ago(110) })] })] },
    /^1 job stuck: 10 s past its 1m40s timeout\.$/,
  ],
  [
    'a long wait at a limit',
    {
      definitions: [
        madeDefinition({
          limits: {
            ...madeDefinition().limits,
            effective: { ...madeDefinition().limits.effective, concurrencyLimit: 2 },
          },
        }),
      ],
      ...stats({ depth: 3, oldestAgeMs: 900_000 }),
    },
    /^3 jobs wait, the oldest for 15m; it is limited: .*2/,
  ],
  [
    'a definition that no worker has, and that has work to do',
    {
      definitions: [madeDefinition(), madeDefinition({ key: 'lone' })],
      ...stats({ key: 'lone', states: { ...waits, queued: 0, retrying: 1 } }),
    },
    /^The next jobs will wait: no worker/,
  ],
  [
    'an alert',
    { alerts: [madeAlert({ rule: 'retry-rate', message: '70 % of hello' })] },
    /^70 % of hello\.$/,
  ],
  [
    'an alert about retries, with the root cause of a job that waits for its retry',
    {
      alerts: [
        madeAlert({ rule: 'retry-rate', definitionKey: 'hello', message: '70 % of hello' }),
        madeAlert({ rule: 'retries', definitionKey: null, status: 'resolved' }),
      ],
      retried: [
        madeJob({ definitionKey: 'other', error: failureOf('TIMEOUT', 'too slow') }),
        madeJob({
          definitionKey: 'hello',
          error: {
            ...failureOf('HANDLER_ERROR', 'row 7 was refused'),
            cause: failureOf('HANDLER_ERROR', 'column vat_id does not exist.'),
          },
        }),
      ],
    },
    /^70 % of hello: column vat_id does not exist\.$/,
  ],
  [
    'no worker, because the last one was killed',
    {
      workers: [
        madeWorker({ status: 'dead', lost: true, endedBy: 'SIGKILL', heartbeatAt: ago(40) }),
      ],
      ...stats(),
    },
    /^No live worker: no job can run\. Worker box \(pid 7\) was killed by SIGKILL 40 s ago\.$/,
  ],
  [
    'a worker whose end its parent saw',
    {
      workers: [
        madeWorker(),
        madeWorker({
          workerId: 'x',
          status: 'dead',
          lost: true,
          endedBy: 'exit code 9',
          heartbeatAt: ago(40),
        }),
      ],
    },
    /^Worker box \(pid 7\) exited 40 s ago with code 9: no job waits for it\.$/,
  ],
  [
    'a killed worker whose lease still holds its job',
    {
      workers: [
        madeWorker(),
        madeWorker({
          workerId: 'x',
          status: 'dead',
          lost: true,
          endedBy: 'SIGKILL',
          heartbeatAt: ago(4),
          jobs: [madeHeld()],
        }),
      ],
    },
    /^1 job stranded: worker box \(pid 7\) was killed by SIGKILL 4 s ago; it runs again when its lease has ended\.$/,
  ],
  [
    'a worker that died',
    {
      workers: [
        madeWorker(),
        madeWorker({ workerId: 'x', status: 'dead', lost: true, heartbeatAt: ago(40) }),
      ],
    },
    /^Worker box \(pid 7\) died 40 s ago \(killed, crashed or cut off\): no job waits for it\.$/,
  ],
  [
    'a job that seems stuck',
    { workers: [madeWorker({ jobs: [madeHeld({ startedAt: ago(90) })] })] },
    /^1 job stuck: running 1m30s of its 1m40s timeout\.$/,
  ],
  [
    'a pause',
    { pauses: [{ scope: 'definition', name: 'hello', by: 'cli', reason: null, since: ago(5) }] },
    /^1 job waits: hello was paused 5 s ago by cli\.$/,
  ],
  ['failures', { failures: [failed('a', 2)] }, /^2 failed, the first 10m ago: boom$/],
  [
    'the root cause of failures',
    { failures: [madeGroup({ count: 2_500, code: 'TIMEOUT', cause: 'column vat_id is missing' })] },
    /^2,500 failed, the first 10m ago: column vat_id is missing \(TIMEOUT\)$/,
  ],
  [
    'failures of a schedule as one problem',
    {
      failures: [failed('hello', 3)],
      schedules: [madeSchedule({ lastSlot: { ...slot, jobId: 'x', jobStatus: 'failed' } })],
    },
    /^3 failed, the first 10m ago: boom; schedule nightly$/,
  ],
  ['a late schedule', { schedules: [madeSchedule({ nextAt: ago(90) })] }, /overdue by 1m30s/],
  [
    'a webhook whose receiver is down',
    {
      webhooks: [
        madeWebhook({
          failures: 873,
          failingSince: ago(1_560),
          lastError: 'no answer (ECONNREFUSED)',
          waitingEvents: { count: 273, isExact: true },
        }),
      ],
      alerts: [madeAlert({ rule: 'webhook-failing', webhookId: madeWebhook().id })],
    },
    /^Webhook http:\/\/shop\.example\/hooks\/orders has failed for 26m: no answer \(ECONNREFUSED\), 273 events wait\.$/,
  ],
  [
    'a failing webhook whose alert is silenced',
    {
      webhooks: [madeWebhook({ failures: 9, failingSince: ago(60), lastError: 'it answered 500' })],
      alerts: [
        madeAlert({
          rule: 'webhook-failing',
          webhookId: madeWebhook().id,
          silenced: { until: ago(-7_200), by: 'key:58c5788b7c0b260d (ada)' },
        }),
      ],
    },
    /: it answered 500 \(silenced for 2h more by ada \(key 58c5…\)\)\.$/,
  ],
  [
    'an alert that begins with the name of a definition',
    {
      alerts: [
        madeAlert({ rule: 'retry-rate', definitionKey: 'mail.send', message: 'mail.send retries' }),
      ],
    },
    /^mail\.send retries\.$/,
  ],
  [
    'a webhook that was disabled',
    {
      webhooks: [
        madeWebhook({
          status: 'disabled',
          failures: 9,
          notice: 'it answered 410',
          description: 'orders of the shop, team web',
        }),
      ],
    },
    /^Webhook .* \(orders of the shop, team web\) fails: it answered 410\.$/,
  ],
  [
    'a broker that takes no events, with more of them than are counted',
    {
      webhooks: [
        madeWebhook({
          url: 'broker://main',
          failures: 3,
          lastError: 'not published (ECONNREFUSED)',
          waitingEvents: { count: 1_000, isExact: false },
        }),
      ],
    },
    /^Webhook broker:\/\/main fails: not published \(ECONNREFUSED\), 1,000\+ events wait\.$/,
  ],
  [
    'the alert about a webhook that the caller may not read',
    { alerts: [madeAlert({ rule: 'webhook-failing', webhookId: 'x', message: 'the webhook' })] },
    /^The webhook\.$/,
  ],
  [
    'a schedule whose job failed',
    { schedules: [madeSchedule({ lastSlot: { ...slot, jobId: 'x', jobStatus: 'failed' } })] },
    /^The last job of schedule nightly failed/,
  ],
] as const)('sees %s', (_, over, text) => {
  expect(shown(over)).toEqual([expect.stringMatching(text)]);
});

it('tells a tenant what concerns its own jobs', () => {
  const others: Partial<Seen> = {
    workers: [
      madeWorker(),
      madeWorker({ workerId: 'x', status: 'dead', lost: true, heartbeatAt: ago(40) }),
    ],
    pauses: [{ scope: 'definition', name: 'other', by: 'cli', reason: null, since: ago(5) }],
  };
  const of = (tenant: string) => ({
    ...others,
    tenant: { tenant, concurrencyLimit: null, inUse: 0 },
  });
  expect(shown(of('default'))).toHaveLength(2);
  expect(shown(of('acme'))).toEqual([]);
});

it.each([
  ['definition', 'hello', '3 jobs wait: hello was'],
  ['definition', 'other', 'other was'],
  ['all', null, '1,203 jobs wait: Everything was'],
] as const)('counts what a pause of %s %s holds back', (scope, name, begin) => {
  const pauses = [{ scope, name, by: 'cli', reason: null, since: ago(5) }];
  const counted = stats({ depth: 3 }, { key: 'mail', depth: 1_200 });
  expect(shown({ pauses, ...counted })).toEqual([expect.stringMatching(new RegExp(`^${begin}`))]);
});

describe('a pause of another tenant', () => {
  const pause = { scope: 'tenant', name: 'acme', by: 'cli', reason: 'x', since: ago(5) } as const;
  const acme = {
    tenant: 'acme',
    firingAlerts: 0,
    concurrencyLimit: 1,
    heldBackMs: 600_000,
    failedJobs: 0,
    heldBackJobs: { count: 392, isExact: true },
    paused: pause,
  };
  const backlog = stats({ key: 'tax.lookup', depth: 136, oldestAgeMs: 900_000 });
  const of = (tenant: string, over: Partial<Seen> = {}) =>
    problemsOf(
      { ...quiet, tenant: { tenant, concurrencyLimit: null, inUse: 0 }, pauses: [pause], ...over },
      NOW,
    );

  it('counts the jobs of that tenant, once, and leads to them', () => {
    expect(of('default', { tenants: [acme], ...stats({ depth: 2_155 }) })).toMatchObject([
      {
        text: '392 jobs wait: Tenant acme was paused 5 s ago by cli: x.',
        target: { at: 'jobs', status: ['queued'], tenant: 'acme' },
      },
    ]);
  });

  it('hides no backlog of the tenant that is looked at', () => {
    expect(of('default', { tenants: [acme], ...backlog }).map(({ text }) => text)).toEqual([
      '392 jobs wait: Tenant acme was paused 5 s ago by cli: x.',
      '136 jobs wait, the oldest for 15m.',
    ]);
  });

  it('explains the backlog of the tenant itself, and does not concern a third one', () => {
    const [own, ...more] = of('acme', backlog);
    expect(own?.text).toBe('136 jobs wait: Tenant acme was paused 5 s ago by cli: x.');
    expect(own?.target).toEqual({ at: 'jobs', status: ['queued'] });
    expect(more).toEqual([]);
    expect(of('globex', backlog).map(({ text }) => text)).toEqual([
      '136 jobs wait, the oldest for 15m.',
    ]);
  });

  it('names no number if it is unknown', () => {
    expect(of('default').map(({ text }) => text)).toEqual([
      'Tenant acme was paused 5 s ago by cli: x.',
    ]);
  });
});

it('says who paused a schedule and why, but not that the code no longer has it', () => {
  const paused = { since: ago(300), by: 'key:k1', reason: 'the mail server is down' };
  const schedule = madeSchedule({ enabled: false, nextAt: null, paused });
  expect(shown({ schedules: [schedule] })).toEqual([
    'Schedule nightly was paused 5m ago by key:k1: the mail server is down.',
  ]);
  const gone = { ...schedule, note: 'removed from code', paused: { ...paused, by: null } };
  expect(shown({ schedules: [gone] })).toEqual([]);
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
  expect(problemsOf({ ...quiet, workers, definitions }, NOW)[0]?.owner).toBe('b');
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
  expect(shown({ workers: at(40_000), ...waiting })).toEqual([
    '1 job stranded: worker box (pid 7) died 11h06m ago (killed, crashed or cut off), and no other worker has lone.',
  ]);
  const again = madeWorker({ ...dead, workerId: 'y', pid: 8, heartbeatAt: ago(50_000) });
  expect(shown({ workers: [...at(40_000), again], ...waiting })).toHaveLength(1);
  const later = { schedules: [madeSchedule({ definitionKey: 'lone' })] };
  expect(shown({ workers: at(40_000), ...later })).toEqual([
    expect.stringMatching(/: the next jobs of lone will wait\.$/),
  ]);
});

it('tells each thing once: what an alert says too is left to the better sentence', () => {
  const about = { definitionKey: 'hello' };
  const alerts = [
    madeAlert({ rule: 'unserved', ...about }),
    madeAlert({ rule: 'oldest-age', ...about }),
    madeAlert({ rule: 'dead-letters', definitionKey: 'a' }),
    madeAlert({ rule: 'dead-letter-size', definitionKey: 'a' }),
    madeAlert({ rule: 'retries', status: 'resolved', ...about }),
  ];
  const failures = [failed('a', 2)];
  expect(shown({ alerts, failures, ...stats({ depth: 1, unserved: stranded }) })).toHaveLength(2);
});

it('leaves out an alert that the counters contradict: its job runs by now', () => {
  const about = { definitionKey: 'hello', threshold: 900 };
  const alerts = [
    madeAlert({ rule: 'unserved', ...about, threshold: 120 }),
    madeAlert({ rule: 'oldest-age', ...about }),
  ];
  expect(shown({ alerts, ...stats({ depth: 0, oldestAgeMs: null }) })).toEqual([]);
  const waiting = stats({ depth: 1, oldestAgeMs: 1_000_000, oldestJobId: 'x' });
  expect(shown({ alerts, ...waiting })).toEqual(['1 job waits, for 16m40s.']);
});

it('leaves out one failed send, and a webhook that a person paused', () => {
  const one = madeWebhook({ failures: 1, failingSince: ago(3) });
  const paused = madeWebhook({ status: 'paused', failures: 9, notice: 'paused by hand' });
  expect(shown({ webhooks: [one, paused] })).toEqual([]);
});

it('leaves out the alert about a stuck job that has ended', () => {
  const alerts = [madeAlert({ rule: 'stuck', jobId: 'gone' })];
  expect(shown({ alerts })).toEqual([]);
  const workers = [madeWorker({ jobs: [madeHeld({ jobId: 'gone' })] })];
  expect(shown({ alerts, workers })).toEqual(['Something is wrong.']);
});

it('has one line for the stuck jobs of a definition', () => {
  const stuck = [90, 95, 91].map((seconds) => madeHeld({ startedAt: ago(seconds) }));
  const workers = [madeWorker({ jobs: stuck })];
  const definitions = [madeDefinition({ owner: 'team' })];
  expect(problemsOf({ ...quiet, workers, definitions }, NOW)).toMatchObject([
    {
      about: 'hello',
      owner: 'team',
      text: '3 jobs stuck: running up to 1m35s of their 1m40s timeout.',
    },
  ]);
});

describe('more running jobs than a page has', () => {
  const running = Array.from({ length: 50 }, () => madeJob({ status: 'running' }));
  const many = Array.from({ length: 64 }, () => madeHeld());
  const ended = { workerId: 'x', status: 'dead', lost: true, heartbeatAt: ago(4) } as const;

  it('counts all that a dead worker held', () => {
    const dead = madeWorker({ ...ended, endedBy: 'SIGKILL', jobs: many });
    expect(shown({ running, workers: [madeWorker(), dead] })).toEqual([
      expect.stringMatching(/^64 jobs stranded: /),
    ]);
  });

  it('finds a stuck job behind those that were created before it', () => {
    const stuck = madeHeld({ startedAt: ago(95) });
    expect(shown({ running, workers: [madeWorker({ jobs: [...many, stuck] })] })).toEqual([
      '1 job stuck: running 1m35s of its 1m40s timeout.',
    ]);
  });
});

it('counts the jobs of all tenants that a dead worker held, and leads to none of another one', () => {
  const jobs = [madeHeld({ jobId: 'theirs', tenant: 'acme', startedAt: ago(95) })];
  const dead = madeWorker({ workerId: 'x', status: 'dead', lost: true, heartbeatAt: ago(4), jobs });
  expect(problemsOf({ ...quiet, workers: [madeWorker(), dead] }, NOW)).toMatchObject([
    { text: expect.stringMatching(/^1 job stranded/) as string, target: { at: 'workers' } },
  ]);
  const own = { ...dead, jobs: [...jobs, madeHeld({ jobId: 'ours' })] };
  expect(problemsOf({ ...quiet, workers: [madeWorker(), own] }, NOW)).toMatchObject([
    { text: expect.stringMatching(/^2 jobs stranded/) as string, target: { jobId: 'ours' } },
  ]);
});

it('names the owner of what an overdue schedule runs', () => {
  const definitions = [madeDefinition({ owner: 'team' })];
  const schedules = [madeSchedule({ nextAt: ago(90) })];
  expect(problemsOf({ ...quiet, definitions, schedules }, NOW)[0]?.owner).toBe('team');
});

it('lists the first files that could not be loaded, and counts the others', () => {
  const notLoaded = [1, 2, 3, 4, 5].map((file) => `jobs/${file}.ts: Error: boom`);
  const found = shown({ workers: [madeWorker({ notLoaded })] });
  expect(found).toHaveLength(4);
  expect(found.at(-1)).toBe('2 more files could not be loaded.');
  expect(shown({ workers: [madeWorker(), madeWorker({ status: 'dead', notLoaded })] })).toEqual([]);
});

it('lists a schedule whose definition no worker has registered, unless its jobs wait already', () => {
  const schedules = [madeSchedule({ name: 'nightly', definitionKey: 'helo' })];
  expect(shown({ schedules })).toEqual([
    'Jobs of schedule nightly will wait. No worker has registered “helo”: did you mean “hello”?',
  ]);
  const told = shown({ schedules, ...stats({ key: 'helo', depth: 1, unserved: stranded }) });
  expect(told).toEqual(['1 job waits: no worker has this definition.']);
  const paused = [madeSchedule({ definitionKey: 'helo', enabled: false })];
  expect(shown({ schedules: paused })).toEqual([]);
});

test('a budget that is used up is one problem, although both of its rules fire', () => {
  const about = (name: string) => `130 % of a budget is used: ${name}`;
  const exceeded = madeAlert({
    rule: 'budget-exceeded',
    message: `${about('mails')} (threshold 100 %)`,
  });
  const warning = (name: string) =>
    madeAlert({ rule: 'budget-warning', message: `${about(name)} (threshold 80 %)` });
  expect(shown({ alerts: [warning('mails'), exceeded] })).toEqual([
    '130 % of a budget is used: mails (threshold 100 %).',
  ]);
  expect(shown({ alerts: [warning('reports'), exceeded] })).toHaveLength(2);
  expect(shown({ alerts: [warning('mails')] })).toHaveLength(1);
});

it('leads to the limit of a tenant that holds its jobs back, else to its own problems', () => {
  const acme = {
    tenant: 'acme',
    firingAlerts: 1,
    concurrencyLimit: 1,
    heldBackMs: 349_000,
    failedJobs: 0,
    heldBackJobs: { count: 40, isExact: true },
    paused: null,
  };
  const targetOf = (heldBackMs: number | null) =>
    problemsOf({ ...quiet, tenants: [{ ...acme, heldBackMs }] }, NOW)[0]?.target;
  expect(targetOf(349_000)).toEqual({ at: 'tenant-limit', name: 'acme' });
  expect(targetOf(null)).toEqual({ at: 'tenant', name: 'acme' });
});
