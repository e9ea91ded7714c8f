import { beforeEach, describe, expect, it } from 'vitest';
import { definitionInfo } from '../../../src/core/definition/check-definition.ts';
import { hookDefinition } from '../../../src/core/definition/hooks.ts';
import type { JobView } from '../../../src/core/job/job.ts';
import { DefinitionsAnswer } from '../../../src/protocol/answers/definition-answer.ts';
import { JobAnswer } from '../../../src/protocol/answers/job-answer.ts';
import type { Problem } from '../../../src/protocol/problem.ts';
import { publishDefinitions } from '../../../src/store/enqueue/definitions.ts';
import { Enqueuer } from '../../../src/enqueue/enqueuer.ts';
import { startOne } from '../../../src/enqueue/start-jobs.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { publish } from '../../support/limits.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { callAs, sharedServer } from '../../support/server-edge.ts';
import { claimAny, failure, newWorker, request, settleAs, SUCCESS } from '../../support/jobs.ts';

const database = sharedDatabase();
const app = sharedServer(database);

beforeEach(async () => {
  await database.sql(`truncate longshore.job, longshore.waiting, longshore.running, longshore.done,
    longshore.attempt, longshore.dedupe, longshore.worker`);
});

const MISSING = '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400';
const JSON_TYPE = { 'content-type': 'application/json' };

async function call(method: 'GET' | 'POST', url: string, body?: unknown, headers: object = {}) {
  const given = { ...(body !== undefined && JSON_TYPE), ...headers };
  return await callAs(app, null, method, url, { payload: body, headers: given });
}

const get = async (url: string) => await call('GET', url);
const post = async (url: string, body?: unknown, headers?: object) =>
  await call('POST', url, body, headers);

async function refused(asked: Promise<{ status: number; body: unknown }>, code: string) {
  const { status, body } = await asked;
  const problem = body as Problem;
  expect([problem.status, problem.code]).toEqual([status, code]);
  return { status, detail: problem.detail, pointers: problem.errors?.map((one) => one.pointer) };
}

async function start(fields: object = {}): Promise<string> {
  const { status, body } = await post('/v1/jobs', { definitionKey: 'hello', ...fields });
  expect(status).toBe(202);
  return (body as { jobId: string }).jobId;
}

const view = async (jobId: string) => (await get(`/v1/jobs/${jobId}`)).body as unknown as JobView;
const count = async () =>
  (await database.sql<{ n: number }>('select count(*)::int as n from longshore.job'))[0]?.n;

describe('POST /v1/jobs', () => {
  it('stores a job and answers with its location', async () => {
    const { status, headers, body } = await post('/v1/jobs', { definitionKey: 'hello' });
    const { jobId } = body as { jobId: string };
    const detail = 'no worker has registered "hello"';
    const warnings = [{ code: 'UNREGISTERED', detail }];
    expect([status, body]).toEqual([202, { jobId, status: 'queued', warnings }]);
    expect(headers.location).toBe(`/v1/jobs/${jobId}`);
    expect(headers['cache-control']).toBe('no-store');
  });

  it('is refused on request when no worker has registered the definition', async () => {
    const refused = await post('/v1/jobs', { definitionKey: 'hello', requireRegistered: true });
    expect([refused.status, refused.body['code']]).toEqual([422, 'UNREGISTERED']);
    const detail = 'no worker has registered "hello"';
    expect(refused.body['errors']).toEqual([{ pointer: '/definitionKey', detail }]);
    const jobs = [{ definitionKey: 'hello' }, { definitionKey: 'helo', requireRegistered: true }];
    const batch = await post('/v1/jobs/batch', { jobs });
    expect(batch.body['errors']).toMatchObject([{ pointer: '/jobs/1/definitionKey' }]);
    expect(await count()).toBe(0);
    await publish(database, 'hello', {});
    const mistyped = await post('/v1/jobs', { definitionKey: 'helo', requireRegistered: true });
    expect(mistyped.body['detail']).toContain('did you mean "hello"?');
    await start({ requireRegistered: true });
    await database.sql('delete from longshore.definition');
  });

  it('is refused by a server that requires registered definitions, unless a call says otherwise', async () => {
    const strict = new Enqueuer(database.db, database.waker, systemClock, null, null, true);
    const job = request({ definitionKey: 'missing' });
    await expect(startOne(strict, job)).rejects.toMatchObject({ code: 'UNREGISTERED' });
    await startOne(strict, { ...job, requireRegistered: false });
    expect(await count()).toBe(1);
  });

  it('keeps every field', async () => {
    const jobId = await start({
      definitionVersion: 3,
      params: { a: [1, { b: null }] },
      priority: 7,
      maxAttempts: 9,
      idempotencyKey: 'order-1',
      runAt: '2090-01-31T10:00:00+02:00',
      tags: ['x', 'ü'],
      timeoutSeconds: 2.5,
      retry: { delaysMs: [1, 2], jitter: 0 },
    });
    const job = await view(jobId);
    // Fields of large values are there only if the job has such a value.
    const fields = Object.keys(JobAnswer.shape).filter((name) => !name.startsWith('large'));
    expect(Object.keys(job).sort()).toEqual(fields.sort());
    expect(JobAnswer.parse(job)).toMatchObject({
      definitionKey: 'hello',
      definitionVersion: 3,
      tenant: 'default',
      status: 'scheduled',
      params: { a: [1, { b: null }] },
      priority: 7,
      attempts: 0,
      maxAttempts: 9,
      idempotencyKey: 'order-1',
      runAt: '2090-01-31T08:00:00.000Z',
      tags: ['x', 'ü'],
    });
    const [row] = await database.sql<{ policy: unknown }>('select policy from longshore.job');
    expect(row?.policy).toEqual({ timeoutMs: 2_500, retry: { delaysMs: [1, 2], jitter: 0 } });
  });

  it('begins as created, scheduled or queued', async () => {
    const statusOf = async (fields: object) => (await view(await start(fields))).status;
    expect(await statusOf({ hold: true })).toBe('created');
    expect(await statusOf({ delayMs: 60_000 })).toBe('scheduled');
    expect(await statusOf({ delayMs: 0 })).toBe('queued');
    expect(await statusOf({ runAt: '1970-01-01T00:00:00Z' })).toBe('queued');
  });

  it('takes every JSON as params and gives it back as it was', async () => {
    const odd = ['NUL \u0000', 'lone \ud800', '\udc00\ud800', '😀', '', { '': 0, 'a\u0000': [] }];
    for (const params of [odd, null, false, 0, -0.5, 1e300, 'text', [], { constructor: 1 }]) {
      expect((await view(await start({ params }))).params).toEqual(params);
    }
  });

  it('takes params up to their limits, and no further', async () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    const keyed = (keys: number) =>
      Object.fromEntries(Array.from({ length: keys }, (_, index) => [`k${index}`, index]));
    const asked = (params: string) => `{"definitionKey":"hello","params":${params}}`;
    const large = (bytes: number) => JSON.stringify('ü'.repeat((bytes - 2) >> 1));
    await start({ params: JSON.parse(large(131_072)) as unknown });
    await start({ params: JSON.parse(nested(10)) as unknown });
    await start({ params: [keyed(250), keyed(250)] });
    const tooLarge = post('/v1/jobs', asked(`"${'x'.repeat(131_071)}"`));
    const deep = post('/v1/jobs', asked(nested(11)));
    const wide = post('/v1/jobs', asked(JSON.stringify([keyed(250), keyed(251)])));
    const poisoned = post('/v1/jobs', asked('{"a":{"__proto__":{}}}'));
    expect(await refused(tooLarge, 'PAYLOAD_TOO_LARGE')).toMatchObject({ pointers: ['/params'] });
    expect((await refused(deep, 'PAYLOAD_INVALID')).pointers).toEqual([
      `/params${'/0'.repeat(10)}`,
    ]);
    expect((await refused(wide, 'PAYLOAD_INVALID')).status).toBe(400);
    expect((await refused(poisoned, 'PAYLOAD_INVALID')).pointers).toEqual(['/params/a/__proto__']);
    expect(await count()).toBe(3);
  });

  it('answers a repeat with the first job, by field or by header', async () => {
    const first = await start({ idempotencyKey: 'order 1', params: { a: 1 } });
    const body = { definitionKey: 'hello', params: { a: 1 } };
    const repeat = await post('/v1/jobs', body, { 'idempotency-key': '"order 1"' });
    expect([repeat.status, repeat.body]).toMatchObject([202, { jobId: first, status: 'queued' }]);
    const other = post('/v1/jobs', { ...body, params: { a: 2 }, idempotencyKey: 'order 1' });
    const { status, pointers } = await refused(other, 'IDEMPOTENCY_CONFLICT');
    expect([status, pointers]).toEqual([409, ['/idempotencyKey']]);
    const both = { ...body, idempotencyKey: 'x' };
    await refused(post('/v1/jobs', both, { 'idempotency-key': 'y' }), 'VALIDATION_FAILED');
    expect(await count()).toBe(1);
  });
});

describe('POST /v1/jobs/batch', () => {
  const job = (changes: object = {}) => ({ definitionKey: 'hello', ...changes });

  it('stores all jobs, in order', async () => {
    const jobs = [job({ hold: true }), job({ delayMs: 9_000 }), job({ definitionKey: 'other' })];
    const { status, body } = await post('/v1/jobs/batch', { jobs });
    const stored = (body as { jobs: { jobId: string; status: string }[] }).jobs;
    expect(status).toBe(202);
    expect(stored.map((one) => one.status)).toEqual(['created', 'scheduled', 'queued']);
    expect((await view(stored[2]?.jobId ?? '')).definitionKey).toBe('other');
  });

  it('stores nothing when one entry is bad', async () => {
    const jobs = [job(), job({ priority: 'high', params: { a: { __proto__x: 1 } } }), job()];
    const wrong = await refused(post('/v1/jobs/batch', { jobs }), 'VALIDATION_FAILED');
    expect(wrong.pointers).toEqual(['/jobs/1/priority']);
    const deep = [job(), job({ params: [[[[[[[[[[[]]]]]]]]]]] })];
    const invalid = await refused(post('/v1/jobs/batch', { jobs: deep }), 'PAYLOAD_INVALID');
    expect(invalid.pointers).toEqual([`/jobs/1/params${'/0'.repeat(10)}`]);
    expect(await count()).toBe(0);
  });

  it('stores nothing when one key clashes, and points to it', async () => {
    await start({ idempotencyKey: 'k', params: 1 });
    const jobs = [job(), job(), job({ idempotencyKey: 'k', params: 2 })];
    const clash = await refused(post('/v1/jobs/batch', { jobs }), 'IDEMPOTENCY_CONFLICT');
    expect(clash.pointers).toEqual(['/jobs/2/idempotencyKey']);
    const header = { 'idempotency-key': 'k' };
    await refused(post('/v1/jobs/batch', { jobs: [job()] }, header), 'VALIDATION_FAILED');
    expect(await count()).toBe(1);
  });
});

describe('GET /v1/jobs/{jobId}', () => {
  it.each([MISSING, 'x', '1', MISSING.toUpperCase(), "'; drop table", '%00'])(
    '%s is not there',
    async (jobId) => {
      const { status } = await refused(get(`/v1/jobs/${encodeURI(jobId)}`), 'NOT_FOUND');
      expect(status).toBe(404);
    },
  );
});

describe('GET /v1/jobs', () => {
  it.each(['-createdAt', 'createdAt'])('pages through all jobs by %s, each once', async (sort) => {
    const jobs = Array.from({ length: 120 }, (_, params) => ({ definitionKey: 'hello', params }));
    await post('/v1/jobs/batch', { jobs });
    const seen: unknown[] = [];
    let url: string | undefined = `/v1/jobs?sort=${sort}&limit=50&definitionKey=hello`;
    const sizes: number[] = [];
    while (url) {
      const { headers, body } = await get(url);
      const page = body as { jobs: JobView[]; nextCursor: string | null };
      seen.push(...page.jobs.map((one) => one.params));
      sizes.push(page.jobs.length);
      const next: string | undefined = /^<(.*)>; rel="next"$/.exec(String(headers.link))?.[1];
      expect(next?.includes(`cursor=${page.nextCursor}`)).toBe(page.nextCursor ? true : undefined);
      url = next;
    }
    const order = Array.from({ length: 120 }, (_, index) => index);
    expect(seen).toEqual(sort === 'createdAt' ? order : order.reverse());
    expect(sizes).toEqual([50, 50, 20]);
  });

  it('finds by status, definition, tag and time', async () => {
    const held = await start({ hold: true, tags: ['a', 'b'] });
    const plain = await start({ tags: ['b'] });
    const other = await start({ definitionKey: 'other', delayMs: 60_000 });
    const ids = async (query: string) =>
      ((await get(`/v1/jobs?${query}`)).body as { jobs: JobView[] }).jobs.map((one) => one.jobId);
    expect(await ids('')).toEqual([other, plain, held]);
    expect(await ids('status=created&status=scheduled')).toEqual([other, held]);
    expect(await ids('status=succeeded')).toEqual([]);
    expect(await ids('definitionKey=other')).toEqual([other]);
    expect(await ids('tag=b&sort=createdAt')).toEqual([held, plain]);
    expect(await ids('tag=a')).toEqual([held]);
    expect(await ids('createdBefore=2020-01-01T00:00:00Z')).toEqual([]);
    expect(await ids('createdAfter=2020-01-01T00:00:00%2B01:00')).toHaveLength(3);
  });
});

describe('cancel and release', () => {
  it.each([
    [undefined, {}],
    ['', JSON_TYPE],
    ['', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['{}', JSON_TYPE],
  ])('take the body %j with %j', async (payload, headers) => {
    const jobId = await start({ hold: true });
    const released = await post(`/v1/jobs/${jobId}/release`, payload, headers);
    expect([released.status, released.body]).toEqual([202, { jobId, status: 'queued' }]);
    const cancelled = await post(`/v1/jobs/${jobId}/cancel`, payload, headers);
    expect([cancelled.status, cancelled.body]).toEqual([202, { jobId, status: 'cancelled' }]);
    expect((await view(jobId)).status).toBe('cancelled');
  });

  it('name the state that forbids them', async () => {
    const jobId = await start();
    const release = await refused(post(`/v1/jobs/${jobId}/release`), 'CONFLICT');
    expect([release.status, release.detail]).toEqual([409, expect.stringContaining('queued')]);
    await post(`/v1/jobs/${jobId}/cancel`);
    const cancel = await refused(post(`/v1/jobs/${jobId}/cancel`), 'CONFLICT');
    expect([cancel.status, cancel.detail]).toEqual([409, expect.stringContaining('cancelled')]);
  });

  it('ask a running job to stop, as often as one likes', async () => {
    const jobId = await start();
    const [claimed] = await claimAny(database, await newWorker(database), 1);
    for (const status of ['cancelling', 'cancelling']) {
      expect((await post(`/v1/jobs/${jobId}/cancel`)).body).toEqual({ jobId, status });
    }
    if (claimed) await settleAs(database, claimed, failure('HANDLER_ERROR'), 'cancelling');
    expect(await view(jobId)).toMatchObject({ status: 'cancelled', workerId: null });
  });

  it.each(['cancel', 'release'])('%s knows its job and takes no fields', async (verb) => {
    for (const id of [MISSING, 'x']) {
      expect((await refused(post(`/v1/jobs/${id}/${verb}`), 'NOT_FOUND')).status).toBe(404);
    }
    const asked = post(`/v1/jobs/${await start()}/${verb}`, { force: true });
    expect((await refused(asked, 'VALIDATION_FAILED')).pointers).toEqual(['/force']);
  });
});

describe('the rest', () => {
  it('shows the result of a job that succeeded', async () => {
    const jobId = await start();
    const [claimed] = await claimAny(database, await newWorker(database), 1);
    if (claimed) await settleAs(database, claimed, SUCCESS);
    const job = JobAnswer.parse(await view(jobId));
    expect(job).toMatchObject({ status: 'succeeded', result: { ok: true }, attempts: 1 });
  });

  it('lists the published definitions', async () => {
    const about = { description: 'The last one.', runbookUrl: 'https://wiki.example.com/z' };
    await publishDefinitions(database.db, [
      definitionInfo({ key: 'z', timeoutSeconds: 2, ...about }, { paramsSchema: {} }),
    ]);
    const { definitions } = DefinitionsAnswer.parse((await get('/v1/definitions')).body);
    expect(definitions.find(({ key }) => key === 'z')).toMatchObject({
      version: 1,
      timeoutSeconds: 2,
      ...about,
    });
  });

  it('keeps hooks out of it, and finds their jobs by their own key only', async () => {
    const info = definitionInfo({ key: 'hooked' }, { paramsSchema: null, hooks: ['onEnd'] });
    await publishDefinitions(database.db, [info, hookDefinition(info)]);
    const { definitions } = DefinitionsAnswer.parse((await get('/v1/definitions')).body);
    const found = definitions.filter(({ key }) => key.includes('hooked'));
    expect(found).toMatchObject([{ key: 'hooked', hooks: ['onEnd'] }]);
    const empty = { jobs: [], nextCursor: null, searchedUntil: null, unsearched: [] };
    expect((await get('/v1/jobs?definitionKey=$hook:hooked')).body).toEqual(empty);
    await refused(post('/v1/jobs', { definitionKey: '$hook:hooked' }), 'VALIDATION_FAILED');
  });
});
