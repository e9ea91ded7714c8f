import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { defineJob, type JobDefinition } from '../../../src/core/definition/define.ts';
import type { Outcome } from '../../../src/core/job/lifecycle.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { promote } from '../../../src/store/claim/promote.ts';
import { unserved } from '../../../src/scheduler/unserved.ts';
import { testDatabase, sharedDatabase } from '../../support/servers/database.ts';
import { callAs, sharedServer } from '../../support/server-edge.ts';
import { claimAny, enqueueOne, failure, loseLease, newWorker } from '../../support/jobs.ts';
import { settleAs, SUCCESS } from '../../support/jobs.ts';
import { until } from '../../support/until.ts';
import { jobEnded, workerOn } from '../../support/servers/worker.ts';

/** The contracts of the seeds, sentence by sentence. `docs/seeds.md` says where the others are. */
const database = sharedDatabase();
const app = sharedServer(database);

beforeEach(async () => {
  await database.sql(`truncate longshore.job, longshore.waiting, longshore.running, longshore.done,
    longshore.attempt, longshore.dedupe, longshore.worker`);
});

const post = async (url: string, payload: object) => {
  const { status, body } = await callAs(app, null, 'POST', url, { payload });
  return { status, body };
};
const get = async (url: string) => (await callAs(app, null, 'GET', url)).body;
const rows = async (table: string) => await database.sql(`select from longshore.${table}`);

/** Claims the one job that waits and lets it end, if it shall. */
async function run(outcome?: Outcome): Promise<void> {
  const [job] = await claimAny(database, await newWorker(database), 1);
  if (!job) throw new Error('nothing to claim');
  if (outcome) await settleAs(database, job, outcome);
}

describe('seed 001', () => {
  const EXAMPLE = {
    jobType: 'SEND_EMAIL',
    payload: { to: 'user@example.com', subject: 'Welcome', '...': '...' },
    idempotencyKey: 'req_550e8400-e29b-41d4-a716-446655440000',
  };

  it('POST /jobs records a job durably and answers 202 with its id and PENDING', async () => {
    const { status, body } = await post('/jobs', EXAMPLE);
    expect([status, body]).toEqual([202, { jobId: expect.any(String), status: 'PENDING' }]);
    const stored = await database.sql<{ params: unknown }>('select params from longshore.job');
    expect(stored).toEqual([{ params: EXAMPLE.payload }]);
  });

  it('answers a retry with the same job, indistinguishable from the first answer', async () => {
    const first = await post('/jobs', EXAMPLE);
    expect(await post('/jobs', EXAMPLE)).toEqual(first);
    expect(await rows('job')).toHaveLength(1);
  });

  it('answers a retry with the current status', async () => {
    const { body } = await post('/jobs', EXAMPLE);
    await run(SUCCESS);
    const again = await post('/jobs', EXAMPLE);
    expect(again).toEqual({ status: 202, body: { ...body, status: 'COMPLETED' } });
  });

  it('takes the tenant from the key, whatever the request says', async () => {
    const { body } = await post('/jobs', EXAMPLE);
    const other = { ...EXAMPLE, jobType: 'SEND_SMS', payload: { to: 1 } };
    expect((await post('/jobs', other)).body).toEqual(body);
    // The keys of /v1 belong to a definition, so they are others.
    const v1 = { definitionKey: 'SEND_EMAIL', idempotencyKey: EXAMPLE.idempotencyKey };
    expect((await post('/v1/jobs', v1)).body['jobId']).not.toBe(body['jobId']);
  });

  it('makes one job of many requests at once', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => post('/jobs', EXAMPLE)));
    expect(new Set(answers.map(({ body }) => body['jobId'])).size).toBe(1);
    expect(await rows('job')).toHaveLength(1);
  });

  it('GET /jobs/{jobId} shows outcomes without internal details', async () => {
    const { jobId } = (await post('/jobs', EXAMPLE)).body;
    const look = async () => await get(`/jobs/${String(jobId)}`);
    const shown = { jobId, jobType: 'SEND_EMAIL', createdAt: expect.any(String) };
    const seen = async (status: string) =>
      expect(await look()).toEqual({ ...shown, status, updatedAt: expect.any(String) });
    await seen('PENDING');
    await run();
    await seen('RUNNING');
    await database.sql('update longshore.running set max_attempts = 1');
    const worker = await database.sql<{ worker: string }>('select worker from longshore.running');
    await loseLease(database, worker[0]?.worker ?? '');
    await seen('FAILED');
  });

  it('GET changes nothing, however often it is asked, and 404 is the answer for no job', async () => {
    const { jobId } = (await post('/jobs', EXAMPLE)).body;
    const first = await get(`/jobs/${String(jobId)}`);
    expect(await get(`/jobs/${String(jobId)}`)).toEqual(first);
    const missing = await callAs(app, null, 'GET', '/jobs/0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400');
    expect([missing.status, missing.body['code']]).toEqual([404, 'NOT_FOUND']);
    expect((await callAs(app, null, 'GET', '/jobs/nonsense')).status).toBe(404);
    expect(await rows('job')).toHaveLength(1);
  });

  it('refuses what is not in the contract, and says where', async () => {
    const wrong = await post('/jobs', { ...EXAMPLE, jobtype: 1, payload: { a: '__proto__' } });
    expect(wrong.body).toMatchObject({
      status: 400,
      code: 'VALIDATION_FAILED',
      errors: [{ pointer: '/jobtype', detail: expect.stringContaining('jobType') }],
    });
  });
});

describe('seed 003', () => {
  const EXAMPLE = { type: 'job-type', payload: { free: ['form', { json: true }] } };

  it('POST /jobber/queue answers 201 with a job-id, which is a uuid', async () => {
    const { status, body } = await post('/jobber/queue', EXAMPLE);
    expect([status, body]).toEqual([201, { 'job-id': expect.stringMatching(/^[0-9a-f-]{36}$/) }]);
    expect(await get(`/v1/jobs/${String(body['job-id'])}`)).toMatchObject({
      definitionKey: 'job-type',
      params: EXAMPLE.payload,
      status: 'queued',
    });
  });

  it('gives each job type a queue of its own', async () => {
    for (const type of ['a', 'b', 'a']) await post('/jobber/queue', { type });
    const queues = await database.sql(
      'select count(*)::int as jobs from longshore.waiting group by queue order by 1',
    );
    expect(queues).toEqual([{ jobs: 1 }, { jobs: 2 }]);
  });

  it('recovers all jobs of a worker that failed, not only the one at the head', async () => {
    for (let n = 0; n < 5; n += 1) await post('/jobber/queue', EXAMPLE);
    const worker = await newWorker(database);
    expect(await claimAny(database, worker, 5)).toHaveLength(5);
    await loseLease(database, worker);
    expect(await claimAny(database, await newWorker(database), 9)).toHaveLength(5);
  });
});

describe('seed 004', () => {
  const EXAMPLE = {
    type: 'webhook_delivery',
    payload: { url: 'https://example.com', data: {} },
    idempotencyKey: 'unique-key',
    runAt: '2024-01-15T10:30:00Z',
    priority: 'normal',
  };
  const enqueue = async (changes: object = {}) =>
    await post('/api/jobs/enqueue', { ...EXAMPLE, ...changes });
  const fresh = async (changes: object = {}) => {
    const { status, body } = await enqueue({ idempotencyKey: undefined, ...changes });
    expect(status).toBe(202);
    return String(body['id']);
  };
  const look = async (id: string) => await get(`/api/jobs/${id}`);

  it('POST /api/jobs/enqueue answers 202 with id and status, twice the same', async () => {
    const first = await enqueue();
    expect(first).toEqual({ status: 202, body: { id: expect.any(String), status: 'pending' } });
    expect(await enqueue()).toEqual(first);
    expect(await enqueue({ type: 'report', payload: [] })).toEqual(first);
    expect(await rows('job')).toHaveLength(1);
  });

  it('shares the keys of a tenant with POST /jobs', async () => {
    const { body } = await enqueue();
    const intent = { jobType: 'other', idempotencyKey: 'unique-key' };
    expect((await post('/jobs', intent)).body['jobId']).toBe(body['id']);
  });

  it('GET /api/jobs/{id} shows status and metadata', async () => {
    const id = await fresh({ runAt: '2090-01-15T10:30:00Z', priority: 'high' });
    expect(await look(id)).toEqual({
      id,
      type: 'webhook_delivery',
      status: 'pending',
      priority: 'high',
      attempt: 0,
      maxAttempts: 3,
      nextRunAt: '2090-01-15T10:30:00.000Z',
      lockedUntil: null,
      errorCode: null,
      errorMessage: null,
      attempts: [],
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect((await callAs(app, null, 'GET', '/api/jobs/nonsense')).status).toBe(404);
  });

  it.each([
    ['low', -10],
    ['normal', 0],
    ['high', 10],
  ])('has the priority %s, which is %i in /v1', async (priority, number) => {
    const id = await fresh({ priority });
    expect(await look(id)).toMatchObject({ priority });
    expect(await get(`/v1/jobs/${id}`)).toMatchObject({ priority: number });
  });

  it('knows no other priority', async () => {
    const { status, body } = await enqueue({ priority: 'hihg' });
    expect([status, body['errors']]).toEqual([
      400,
      [{ pointer: '/priority', detail: expect.stringContaining('high') }],
    ]);
  });

  const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
  it.each([
    [413, 'PAYLOAD_TOO_LARGE', { text: 'x'.repeat(131_072) }],
    [400, 'PAYLOAD_INVALID', nested(11)],
    [400, 'PAYLOAD_INVALID', Object.fromEntries(Array.from({ length: 501 }, (_, n) => [n, n]))],
  ])('refuses a payload with an EnqueueError: %i %s', async (status, code, payload) => {
    const answer = await enqueue({ payload });
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ name: 'EnqueueError', code });
    expect(answer.body).toMatchObject({
      errors: [{ pointer: expect.stringMatching(/^.payload/) }],
    });
    expect(await rows('job')).toEqual([]);
  });

  it('takes a payload of just 10 levels and 500 keys', async () => {
    const keys = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [n, n]));
    for (const payload of [nested(10), keys]) await fresh({ payload });
  });

  it('goes from pending to running to success, locked while it runs', async () => {
    const id = await fresh();
    await run();
    const running = await look(id);
    expect(running).toMatchObject({ status: 'running', attempt: 1 });
    expect(Date.parse(String(running['lockedUntil']))).toBeGreaterThan(Date.now());
    await database.sql('truncate longshore.running, longshore.job, longshore.worker');
    const other = await fresh();
    await run(SUCCESS);
    expect(await look(other)).toMatchObject({ status: 'success', lockedUntil: null });
  });

  it('waits for its next run after a failure that may pass', async () => {
    const id = await fresh();
    await run(failure('RATE_LIMITED', 'slow down', 60_000));
    const job = await look(id);
    expect(job).toMatchObject({ status: 'pending', errorCode: 'RATE_LIMITED', attempt: 1 });
    expect(Date.parse(String(job['nextRunAt']))).toBeGreaterThan(Date.now());
  });

  it('calls a job that was reclaimed by its own name for it', async () => {
    const id = await fresh();
    const worker = await newWorker(database);
    await claimAny(database, worker, 1);
    await loseLease(database, worker);
    expect(await look(id)).toMatchObject({
      status: 'pending',
      errorCode: 'JOB_LOCK_TIMEOUT_RECLAIMED',
    });
    expect(await get(`/v1/jobs/${id}`)).toMatchObject({ error: { code: 'LEASE_EXPIRED' } });
  });

  it('keeps that name on the attempt and in the answer, whatever comes after', async () => {
    const id = await fresh();
    const worker = await newWorker(database);
    await claimAny(database, worker, 1);
    await loseLease(database, worker);
    const errorCode = 'JOB_LOCK_TIMEOUT_RECLAIMED';
    const reclaimed = {
      attempt: 1,
      startedAt: expect.any(String) as string,
      finishedAt: expect.any(String) as string,
      durationMs: expect.any(Number) as number,
      errorCode,
      errorMessage: expect.any(String) as string,
    };
    const [second] = await claimAny(database, await newWorker(database), 1);
    expect(await look(id)).toMatchObject({
      status: 'running',
      errorCode,
      attempts: [reclaimed, { attempt: 2, finishedAt: null, errorCode: null }],
    });
    if (second) await settleAs(database, second, failure('RATE_LIMITED', 'slow down', 0));
    expect(await look(id)).toMatchObject({
      status: 'pending',
      errorCode: 'RATE_LIMITED',
      attempts: [reclaimed, { attempt: 2, errorCode: 'RATE_LIMITED' }],
    });
    await promote(database.db, 0, 10);
    await run(SUCCESS);
    expect(await look(id)).toMatchObject({
      status: 'success',
      errorCode: 'RATE_LIMITED',
      attempts: [reclaimed, { errorCode: 'RATE_LIMITED' }, { attempt: 3, errorCode: null }],
    });
  });

  it('says so in the answer of a job that was reclaimed and then succeeded', async () => {
    const id = await fresh();
    const worker = await newWorker(database);
    await claimAny(database, worker, 1);
    await loseLease(database, worker);
    await run(SUCCESS);
    expect(await look(id)).toMatchObject({
      status: 'success',
      attempt: 2,
      errorCode: 'JOB_LOCK_TIMEOUT_RECLAIMED',
    });
  });

  it('tries a plain throw again if the definition asks for it by its own retryOn', async () => {
    const throwing = (key: string, retryOn: string[]) =>
      defineJob({
        key,
        isolation: 'inline',
        retryOn,
        retry: { baseMs: 600_000, maxMs: 600_000 },
        run: () => {
          throw Object.assign(new Error('a mistake in the code'), { status: 503 });
        },
      }) as JobDefinition;
    const jobs = [throwing('stubborn', ['UPSTREAM_5XX']), throwing('picky', ['TIMEOUT'])];
    const { worker, stop } = workerOn(database, { jobs });
    onTestFinished(stop);
    await worker.start();
    const [stubborn, picky] = [await fresh({ type: 'stubborn' }), await fresh({ type: 'picky' })];
    await until('it waits', async () => (await look(stubborn))['nextRunAt'] !== null);
    expect(await look(stubborn)).toMatchObject({ status: 'pending', errorCode: 'UPSTREAM_5XX' });
    await jobEnded(database, picky);
    expect(await look(picky)).toMatchObject({ status: 'dead_letter', errorCode: 'UPSTREAM_5XX' });
  });

  it('does not try a plain throw again, which /v1 does', async () => {
    const throws = defineJob({
      key: 'throws',
      isolation: 'inline',
      retry: { baseMs: 600_000, maxMs: 600_000 },
      run: () => {
        throw new Error('a mistake in the code');
      },
    }) as JobDefinition;
    const { worker, stop } = workerOn(database, { jobs: [throws] });
    onTestFinished(stop);
    await worker.start();
    const here = await fresh({ type: 'throws' });
    const there = await enqueueOne(database, { definitionKey: 'throws' });
    await jobEnded(database, here);
    expect(await look(here)).toMatchObject({
      status: 'dead_letter',
      attempt: 1,
      errorCode: 'HANDLER_ERROR',
      errorMessage: 'a mistake in the code',
    });
    expect((await get(`/v1/jobs/${there}`))['status']).not.toBe('failed');
    const retry = async (body: object) => await post(`/api/jobs/${here}/retry`, body);
    expect(await retry({ mode: 'later', runAt: '2090-01-01T00:00:00Z' })).toMatchObject({
      status: 202,
      body: { id: here, status: 'pending' },
    });
    expect(await look(here)).toMatchObject({ nextRunAt: '2090-01-01T00:00:00.000Z', attempt: 1 });
    expect(await retry({ mode: 'now' })).toMatchObject({ status: 409 });
    expect(await retry({ mode: 'soon' })).toMatchObject({ status: 400 });
  });
});

describe('a job without a worker for its definition', () => {
  /** A start and a stop are one round of it. */
  const round = async (unservedAfterMs: number) => {
    const { db, waker } = database;
    const one = unserved({ db, waker, pollMs: 60_000, unservedAfterMs, log: silentLog });
    await one.start();
    await one.stop();
  };
  const enqueue = async (more: object = {}) => {
    const { body } = await post('/api/jobs/enqueue', { type: 'unknown', ...more });
    return String(body['id']);
  };

  it('ends as NO_HANDLER after a while if it came by seed 004, and waits if by /v1', async () => {
    const here = await enqueue();
    const there = await enqueueOne(database, { definitionKey: 'unknown' });
    const later = await enqueue({ runAt: '2090-01-01T00:00:00Z' });
    await round(60_000);
    expect(await get(`/api/jobs/${here}`)).toMatchObject({ status: 'pending' });
    await round(0);
    expect(await get(`/api/jobs/${here}`)).toMatchObject({
      status: 'dead_letter',
      errorCode: 'NO_HANDLER',
      attempt: 0,
    });
    expect(await get(`/v1/jobs/${there}`)).toMatchObject({ status: 'queued' });
    expect(await get(`/api/jobs/${later}`)).toMatchObject({ status: 'pending' });
  });

  const deadLetter = { status: 'dead_letter', errorCode: 'NO_HANDLER' };

  it('ends again after a retry by hand, in every mode', async () => {
    const id = await enqueue();
    for (const mode of ['now', 'reset', 'later'] as const) {
      await round(0);
      expect(await get(`/api/jobs/${id}`)).toMatchObject(deadLetter);
      const when = mode === 'later' ? { runAt: '2020-01-01T00:00:00Z' } : {};
      const retried = await post(`/api/jobs/${id}/retry`, { mode, ...when });
      expect([retried.status, retried.body['status']]).toEqual([202, 'pending']);
    }
    await round(0);
    expect(await get(`/api/jobs/${id}`)).toMatchObject(deadLetter);
  });

  it.each([
    ['failed', failure('RATE_LIMITED', 'slow down', 0)],
    ['was lost with its worker', { kind: 'lost', message: 'gone' } as const],
    ['was interrupted', { kind: 'interrupted', message: 'a deploy' } as const],
    ['snoozed', { kind: 'snoozed', delayMs: 0 } as const],
  ])('ends when its workers stop after an attempt that %s', async (_, outcome) => {
    const id = await enqueue();
    await run(outcome);
    await promote(database.db, 0, 10);
    expect(await get(`/api/jobs/${id}`)).toMatchObject({ status: 'pending' });
    await round(0);
    expect(await get(`/api/jobs/${id}`)).toMatchObject(deadLetter);
  });

  it('waits while a worker that lives has its definition, and while its queue is paused', async () => {
    const id = await enqueue();
    const serve = async (definitions: string) =>
      await database.sql('update longshore.worker set definitions = $1', [definitions]);
    const worker = await newWorker(database);
    await serve('{unknown@1}');
    await round(0);
    expect(await get(`/api/jobs/${id}`)).toMatchObject({ status: 'pending' });
    await serve('{unknown@2}');
    await database.sql(`update longshore.queue set paused_at = now() where key = 'unknown'`);
    await round(0);
    expect(await get(`/api/jobs/${id}`)).toMatchObject({ status: 'pending' });
    await database.sql(`update longshore.queue set paused_at = null`);
    await serve('{unknown@1}');
    await loseLease(database, worker);
    await round(0);
    expect(await get(`/api/jobs/${id}`)).toMatchObject({ status: 'dead_letter' });
  });
});

it('keeps a key of a tenant in one shard for all its definitions', async () => {
  const many = await testDatabase({ shards: 4 });
  onTestFinished(many.close);
  const key = (definitionKey: string) => ({
    definitionKey,
    idempotencyKey: 'k',
    idempotencyScope: 'tenant' as const,
  });
  const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
  const ids = await Promise.all(keys.map(async (one) => await enqueueOne(many, key(one))));
  expect(new Set(ids).size).toBe(1);
  expect(await many.sql('select from longshore.job')).toHaveLength(1);
  const shards = await many.sql('select distinct shard from longshore.queue');
  expect(shards.length).toBeGreaterThan(1);
});
