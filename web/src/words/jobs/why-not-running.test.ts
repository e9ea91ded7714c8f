import { describe, expect, it, test } from 'vitest';
import type { JobView } from '../../../../src/core/job/job.ts';
import { ago, madeDefinition, madeJob, madeWorker, NOW } from '../made.fixture.ts';
import { whyNotRunning, type World } from './why-not-running.ts';

const well: World = { workers: [madeWorker()], definitions: [madeDefinition()], pauses: [] };
const pause = { by: 'key:1', reason: 'smtp is down', since: ago(60) };
const why = (job: Partial<JobView>, world: Partial<World> = {}) =>
  whyNotRunning(madeJob(job), { ...well, ...world }, NOW);

describe('why a job does not run', () => {
  test.each([
    ['it is held', { status: 'created' }, {}, 'waits', /^Held/],
    ['its time is to come', { status: 'scheduled', runAt: ago(-90) }, {}, 'waits', /in 1m30s\.$/],
    ['its backoff', { status: 'retrying', attempts: 2, runAt: ago(-5) }, {}, 'waits', /^Attempt 2/],
    ['its time is now', { status: 'scheduled', runAt: ago(3) }, {}, 'waits', /being queued/],
    [
      'no scheduler queues it',
      { status: 'retrying', runAt: ago(60) },
      {},
      'bad',
      /^Due 1m ago, but not queued/,
    ],
    ['its definition is unknown', {}, { definitions: [] }, 'bad', /registered “hello”/],
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
      /^Tenant default/,
    ],
    ['another is', {}, { pauses: [{ scope: 'tenant', name: 'x', ...pause }] }, 'bad', /slots/],
    [
      'no worker has it loaded',
      {},
      { workers: [madeWorker({ definitions: ['hello@2'] })] },
      'bad',
      /^No live worker has hello@1 loaded/,
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
    const workers = [madeWorker({ slots: 2, running: ['a', 'b'] }), madeWorker({ status: 'dead' })];
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
      'The concurrency limit of hello (1) is reached.',
    );
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
    expect(answer?.facts).toEqual(['Claimed by box (pid 7), last heartbeat 2 s ago.']);
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
