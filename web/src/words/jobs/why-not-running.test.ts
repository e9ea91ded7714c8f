import { describe, expect, it, test } from 'vitest';
import type { KnownChildren } from '../../../../src/core/dependency/related.ts';
import type { JobView } from '../../../../src/core/job/job.ts';
import { ago, madeDefinition, madeJob, madeWorker, NOW } from '../made.fixture.ts';
import { whyNotRunning, type World } from './why-not-running.ts';

const well: World = {
  workers: [madeWorker()],
  definitions: [madeDefinition()],
  pauses: [],
  tenant: null,
};
const pause = { by: 'key:1', reason: 'smtp is down', since: ago(60) };
const THREE_OPEN: KnownChildren = { children: [], childrenTotal: 10, childrenOpen: 3 };
type Given = Omit<Partial<JobView>, 'warnings'> & {
  warnings?: readonly JobView['warnings'][number][];
};

const why = (job: Given, world: Partial<World> = {}) =>
  whyNotRunning(madeJob(job as Partial<JobView>), { ...well, ...world }, NOW);

describe('why a job does not run', () => {
  test.each([
    ['its time is to come', { status: 'scheduled', runAt: ago(-90) }, {}, 'waits', /in 1m30s\.$/],
    [
      'its sleep',
      { status: 'scheduled', runAt: ago(-90), waitsFor: { sleep: true } },
      {},
      'waits',
      /^It sleeps \(ctx\.sleep\) until \d{4}-\d\d-\d\d \d\d:\d\d UTC: it runs in 1m30s\.$/,
    ],
    ['its backoff', { status: 'retrying', attempts: 2, runAt: ago(-5) }, {}, 'waits', /^Attempt 2/],
    ['its time is now', { status: 'scheduled', runAt: ago(3) }, {}, 'waits', /being queued/],
    [
      'no scheduler queues it',
      { status: 'retrying', runAt: ago(60) },
      {},
      'bad',
      /^Due 1m ago, but not queued/,
    ],
    [
      'its parents',
      { status: 'suspended', runAt: null, waitsFor: { jobs: 'parents' } },
      { parents: [{ jobId: 'p', definitionKey: 'a', status: 'running' }] },
      'waits',
      /^It waits for its parents/,
    ],
    [
      'a signal',
      { status: 'suspended', runAt: ago(-3_600), waitsFor: { signal: 'approved' } },
      {},
      'waits',
      /^It waits for the signal “approved”\.$/,
    ],
    [
      'a signal that is late',
      { status: 'suspended', runAt: ago(3), waitsFor: { signal: 'approved' } },
      {},
      'waits',
      /^Due now; it is being queued\.$/,
    ],
    [
      'its children, of which nothing is known',
      { status: 'suspended', runAt: null, waitsFor: { jobs: 'children' } },
      {},
      'waits',
      /^It waits for its children\.$/,
    ],
    [
      'its children',
      { status: 'suspended', runAt: null, waitsFor: { jobs: 'children' } },
      { children: THREE_OPEN },
      'waits',
      /^It waits for 3 of its 10 children\.$/,
    ],
    [
      'an open batch',
      { definitionKey: '$batch', status: 'suspended', runAt: null, waitsFor: { jobs: 'batch' } },
      { children: THREE_OPEN },
      'waits',
      /^It accepts jobs until it is closed; 3 of its 10 jobs have not ended\.$/,
    ],
    ['its definition is unknown', {}, { definitions: [] }, 'bad', /registered “hello”/],
    ['it is mistyped', { definitionKey: 'helo' }, {}, 'bad', /“helo”: did you mean “hello”\?/],
    ['of its version', { definitionVersion: 3 }, {}, 'bad', /version 3 of “hello”, only 1\.$/],
    ['no worker is active', {}, { workers: [] }, 'bad', /^No live worker/],
    [
      'it is paused',
      {},
      { pauses: [{ scope: 'definition', name: 'hello', ...pause }] },
      'bad',
      /^hello was paused 1m ago by key:1: smtp is down$/,
    ],
    [
      'its tenant is',
      {},
      { pauses: [{ scope: 'tenant', name: 'default', ...pause }] },
      'bad',
      /^Tenant default was paused 1m ago by key:1: smtp is down$/,
    ],
    ['another is', {}, { pauses: [{ scope: 'tenant', name: 'x', ...pause }] }, 'bad', /slots/],
    [
      'no worker has it loaded',
      {},
      { workers: [madeWorker({ definitions: ['hello@2'] })] },
      'bad',
      /^No live worker has hello@1 loaded/,
    ],
    [
      'its code cannot be loaded',
      { warnings: [{ code: 'UNLOADABLE', since: ago(9), detail: 'the storage fails' }] },
      { workers: [madeWorker({ definitions: [] })] },
      'bad',
      /^No worker can load its code\.$/,
    ],
    ['it was just queued', { queuedAt: ago(1) }, {}, 'waits', /^Just queued/],
    ['a riddle', { queuedAt: ago(600) }, {}, 'bad', /^4 of 4 slots are free.*10m/],
  ] as const)('is: %s', (_, job, world, tone, headline) => {
    expect(why(job, world)).toMatchObject({
      tone,
      headline: expect.stringMatching(headline) as string,
    });
  });

  it('is that all slots are busy', () => {
    const workers = [
      madeWorker({ slots: 2, busy: 2, running: ['a'] }),
      madeWorker({ status: 'dead' }),
    ];
    const answer = why({ concurrencyKey: 'customer-7' }, { workers });
    expect(answer?.headline).toBe('All 2 slots of 1 worker are busy.');
    expect(answer?.facts.at(-1)).toContain('customer-7');
  });

  it('is that its worker was lost', () => {
    const lost = madeWorker({ status: 'dead', lost: true, heartbeatAt: ago(300) });
    const answer = why({}, { workers: [madeWorker({ definitions: [] }), lost] });
    expect(answer?.facts).toEqual(['Last heartbeat: box (pid 7), 5m ago.']);
  });

  it('is that its concurrency limit is reached', () => {
    const { limits, ...rest } = madeDefinition();
    const effective = { ...limits.effective, concurrencyLimit: 1 };
    const definitions = [{ ...rest, limits: { ...limits, effective, inUse: 1 } }];
    expect(why({}, { definitions })?.headline).toBe(
      'Definition hello runs 1 of at most 1 job at a time.',
    );
  });

  it('is the limit of its tenant', () => {
    const tenant = { tenant: 'acme', concurrencyLimit: 1, inUse: 1 };
    expect(why({ tenant: 'acme' }, { tenant })).toMatchObject({
      headline: 'Tenant acme runs 1 of at most 1 job at a time.',
      todo: 'Raise the limit of the tenant, or wait.',
      target: { at: 'tenants' },
    });
    expect(why({ queuedAt: ago(600) }, { tenant: { ...tenant, inUse: 0 } })?.facts).toEqual([]);
  });

  it('is that all workers are draining', () => {
    const draining = madeWorker({ status: 'draining' });
    expect(why({}, { workers: [draining] })?.headline).toMatch(/^The only worker is draining/);
    expect(why({}, { workers: [draining, draining] })?.headline).toMatch(
      /^All 2 workers are draining/,
    );
  });

  it('names the last worker', () => {
    const workers = [madeWorker({ status: 'dead', heartbeatAt: ago(120) })];
    expect(why({}, { workers })?.facts).toEqual(['Last heartbeat: box (pid 7), 2m ago.']);
  });

  it('is that a worker has to end the batch', () => {
    const batch = { definitionKey: '$batch', definitionVersion: 1 };
    expect(why({ ...batch, queuedAt: ago(1) })).toMatchObject({
      tone: 'waits',
      headline: 'All its jobs have ended; a worker beside the database ends it.',
      todo: null,
    });
    expect(why({ ...batch, queuedAt: ago(60) })?.todo).toMatch(/^Start one/);
    expect(why(batch, { workers: [] })?.headline).toBe('No live worker.');
  });

  it('is a wait, whose facts say for how long, for whom and what to do', () => {
    const waiting = { status: 'suspended', runAt: null } as const;
    const signal = { ...waiting, runAt: ago(-3_600), waitsFor: { signal: 'approved' } };
    expect(why(signal)).toMatchObject({
      facts: ['The wait times out in 1h. It uses no slot meanwhile.'],
      todo: expect.stringContaining('“npx longshore signal”') as string,
    });
    const child = (jobId: string, status: JobView['status']) => ({
      jobId,
      definitionKey: 'page',
      status,
    });
    // The answer has the first children only.
    const open = ['b', 'c', 'd', 'e', 'f', 'g'].map((id) => child(id, 'queued'));
    const first = [child('a', 'succeeded'), ...open];
    const children = { children: first, childrenTotal: 10, childrenOpen: 8 };
    const spawned = { ...waiting, waitsFor: { jobs: 'children' } } as const;
    expect(why(spawned, { children })).toMatchObject({
      facts: [
        ...['b', 'c', 'd', 'e', 'f'].map((id) => `page ${id} is queued.`),
        '3 more have not ended.',
        'It uses no slot meanwhile.',
      ],
      todo: null,
    });
    expect(why(spawned)?.facts).toEqual(['It uses no slot meanwhile.']);
    const batch = { ...waiting, jobId: 'b-1', waitsFor: { jobs: 'batch' } } as const;
    expect(why(batch)).toMatchObject({
      headline: 'It accepts jobs until it is closed, and has none yet.',
      todo: 'Close it when it has all its jobs: “npx longshore batch close b-1”.',
    });
  });

  it('finds the definition of a hook', () => {
    expect(why({ definitionKey: '$hook:hello', queuedAt: ago(0) })?.tone).toBe('waits');
  });
});

describe('whether a running job is stuck', () => {
  const running = {
    status: 'running',
    workerId: 'w',
    startedAt: ago(10),
    heartbeatAt: ago(2),
    leaseExpiresAt: ago(-28),
  } as const;

  test.each([
    ['no', {}, 'fine', /its worker is alive/],
    ['its worker is gone', { leaseExpiresAt: ago(5) }, 'bad', /expired 5 s ago/],
    ['its timeout is near', { startedAt: ago(81) }, 'bad', /1m21s of its 1m40s timeout/],
    [
      'it was asked to stop',
      { status: 'cancelling', cancelRequestedAt: ago(4) },
      'waits',
      /requested 4 s ago/,
    ],
  ] as const)('%s', (_, over, tone, headline) => {
    const answer = why({ ...running, ...over });
    expect(answer).toMatchObject({ tone, headline: expect.stringMatching(headline) as string });
    expect(answer?.facts).toContain('Claimed by box (pid 7), last heartbeat 2 s ago.');
  });

  test.each([
    [{}, 'process', 'Probably: 8m past the 1m40s timeout of its definition.'],
    [{}, 'inline', 'Yes: 8m past its 1m40s timeout.'],
  ])('past its timeout: %j, %s', (over, isolation, headline) => {
    const definitions = [madeDefinition({ isolation: isolation as 'inline' })];
    const late = { ...running, startedAt: ago(580), ...over };
    expect(why(late, { definitions })).toMatchObject({
      headline,
      todo: expect.stringMatching(/^Cancel it/) as string,
    });
  });

  test.each([
    [1, null, 'It times out in 19 s, then attempt 2 of 3 starts.'],
    [3, null, 'It times out in 19 s, then it fails for good.'],
    [1, ['NETWORK_ERROR'], 'It times out in 19 s, then it fails for good.'],
  ])('after attempt %i, retried on %j', (attempts, retryOn, fact) => {
    const definitions = [madeDefinition({ retryOn })];
    const late = { ...running, startedAt: ago(81), attempts };
    expect(why(late, { definitions })?.facts[0]).toBe(fact);
  });

  it('says that an inline job cannot be killed', () => {
    const definitions = [madeDefinition({ isolation: 'inline' })];
    const asked = { ...running, status: 'cancelling', cancelRequestedAt: ago(4) } as const;
    expect(why(asked, { definitions })?.headline).toContain('cannot be killed');
  });

  it('names its stall timeout', () => {
    const definitions = [madeDefinition({ stallTimeoutMs: 30_000 })];
    expect(why(running, { definitions })?.facts.at(-1)).toBe(
      'It ends as STALLED when it gives no sign of life for 30 s.',
    );
  });

  it('says more once no scheduler recovers it', () => {
    expect(why({ ...running, leaseExpiresAt: ago(60) })?.todo).toContain(
      'none seems to be running',
    );
  });
});

test.each(['succeeded', 'failed', 'cancelled'] as const)('%s needs no explanation', (status) => {
  expect(why({ status })).toBeNull();
});
