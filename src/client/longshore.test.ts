import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  type Answer,
  hangUp,
  json,
  playAnswers,
  problem,
  type Seen,
  silence,
} from '../../test/support/servers/playing-server.ts';
import { defineJob } from '../core/definition/define.ts';
import {
  type JobHandle,
  Longshore,
  type LongshoreOptions,
  ProblemError,
  ServerUnreachable,
} from './index.ts';

const ID = '01980000-0000-7000-8000-000000000000';
const OTHER = '01980000-0000-7000-8000-000000000001';
const receipt = json(202, { jobId: ID, status: 'queued' });
const now = { 'retry-after': '0' };

async function playing(
  answers: Answer[],
  options: Partial<LongshoreOptions> = {},
): Promise<{ client: Longshore; seen: Seen[] }> {
  const { url, seen } = await playAnswers(...answers);
  return { client: new Longshore({ url, apiKey: 'lsk_1', ...options }), seen };
}

async function failure(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('it should have failed');
}

describe('enqueue', () => {
  test('sends the job with the key of the API and answers with a handle', async () => {
    const { client, seen } = await playing([receipt]);
    const runAt = new Date('2030-01-01T00:00:00Z');
    const handle = await client.enqueue('hello', { name: 'x' }, { tags: ['a'], runAt });
    expect(handle).toMatchObject({ id: ID, status: 'queued' });
    expect(seen).toMatchObject([
      {
        method: 'POST',
        url: '/v1/jobs',
        headers: { authorization: 'Bearer lsk_1', 'content-type': 'application/json' },
        body: {
          definitionKey: 'hello',
          params: { name: 'x' },
          tags: ['a'],
          runAt: '2030-01-01T00:00:00.000Z',
          requestId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}$/),
        },
      },
    ]);
  });

  test('takes parents as handles and as ids', async () => {
    const { client, seen } = await playing([receipt, receipt, receipt]);
    const jobA = await client.enqueue('hello');
    const jobB: JobHandle<{ n: number }> = client.handle(OTHER);
    await client.enqueue('hello', {}, { after: [jobA, jobB] });
    await client.enqueue('hello', {}, { after: [jobA, OTHER] });
    expect(seen.slice(1)).toMatchObject([
      { body: { after: [ID, OTHER] } },
      { body: { after: [ID, OTHER] } },
    ]);
    const pending = client.enqueue('hello');
    const late = pending as unknown as JobHandle;
    await expect(client.enqueue('hello', {}, { after: [jobA, late] })).rejects.toThrow(
      'after[1] is no id or handle of a job: is an await missing?',
    );
    await Promise.allSettled([pending]);
  });

  test.each([
    [{ size: 1n }, '"size" is a bigint'],
    [{ done: () => true }, '"done" is a function'],
    [{ user: Promise.resolve(1) }, '"user" is a Promise'],
  ])('does not send what JSON would change: %o', async (params, reason) => {
    const { client, seen } = await playing([receipt]);
    await expect(client.enqueue('hello', params)).rejects.toThrow(
      `the request is not valid JSON: ${reason}`,
    );
    expect(seen).toEqual([]);
  });

  test('is sent again after 503, 429 and a broken connection, with the same request id', async () => {
    const answers = [problem(503, 'UNAVAILABLE', now), problem(429, 'RATE_LIMITED', now), hangUp];
    const { client, seen } = await playing([...answers, receipt]);
    expect((await client.enqueue('hello')).id).toBe(ID);
    const ids = seen.map(({ body }) => (body as { requestId: string }).requestId);
    expect(ids).toHaveLength(4);
    expect(new Set(ids).size).toBe(1);
  });

  test('is sent with a key when the clock of the server refuses the request id', async () => {
    const errors = [{ pointer: '/requestId', detail: 'must be made within the last day' }];
    const refusal = json(422, { code: 'VALIDATION_FAILED', detail: 'wrong', errors });
    const { client, seen } = await playing([refusal, receipt]);
    expect((await client.enqueue('hello')).id).toBe(ID);
    const [first, second] = seen.map(({ body }) => body as Record<string, string>);
    expect(second).toEqual({ definitionKey: 'hello', idempotencyKey: first?.['requestId'] });
  });

  test('gives up after three more tries', async () => {
    const { client, seen } = await playing([problem(503, 'UNAVAILABLE', now)]);
    expect(await failure(client.enqueue('hello'))).toMatchObject({ code: 'UNAVAILABLE' });
    expect(seen).toHaveLength(4);
  });

  test('does not wait for a server that asks for a very long pause', async () => {
    const { client, seen } = await playing([
      problem(429, 'RATE_LIMITED', { 'retry-after': '600' }),
    ]);
    expect(await failure(client.enqueue('hello'))).toMatchObject({ status: 429 });
    expect(seen).toHaveLength(1);
  });

  test('honours Retry-After, as seconds and as a date by the clock of the server', async () => {
    const date = 'Sun, 06 Nov 1994 08:49:37 GMT';
    const later = { date, 'retry-after': 'Sun, 06 Nov 1994 08:49:38 GMT' };
    const { client } = await playing([problem(503, 'UNAVAILABLE', later), receipt]);
    const startedAt = performance.now();
    await client.enqueue('hello');
    expect(performance.now() - startedAt).toBeGreaterThan(900);
  });

  test('a definition brings its key, its version and its types', async () => {
    const { client, seen } = await playing([receipt]);
    const resize = defineJob({
      key: 'image.resize',
      version: 2,
      run: (params: { width: number }) => ({ bytes: params.width }),
    });
    const handle = await client.enqueue(resize, { width: 3 });
    expectTypeOf(handle).toEqualTypeOf<JobHandle<{ bytes: number }>>();
    expect(seen[0]?.body).toMatchObject({ definitionKey: 'image.resize', definitionVersion: 2 });
    // @ts-expect-error The definition says that width is a number.
    await client.enqueue(resize, { width: 'wide' });
    // @ts-expect-error The definition needs params.
    await client.enqueue(resize);
    await client
      .enqueueMany([
        { definition: resize, params: { width: 1 } },
        // @ts-expect-error The definition says that width is a number.
        { definition: resize, params: { width: 'wide' } },
      ])
      .catch(() => {});
  });

  test('many at once carry a key or a request id each', async () => {
    const jobs = [ID, ID].map((jobId) => ({ jobId, status: 'queued' }));
    const { client, seen } = await playing([hangUp, json(202, { jobs })]);
    const handles = await client.enqueueMany([
      { definition: 'a', params: 1 },
      { definition: { key: 'b', version: 2 }, options: { idempotencyKey: 'mine' } },
    ]);
    expect(handles.map((handle) => handle.id)).toEqual([ID, ID]);
    expect(seen[1]).toMatchObject({
      url: '/v1/jobs/batch',
      body: {
        jobs: [
          { definitionKey: 'a', params: 1, requestId: expect.any(String) },
          { definitionKey: 'b', definitionVersion: 2, idempotencyKey: 'mine' },
        ],
      },
    });
    expect(seen[0]?.body).toEqual(seen[1]?.body);
  });
});

describe('refusals', () => {
  test('a problem keeps its code, its detail and its errors', async () => {
    const errors = [{ pointer: '/params/name', detail: 'is required' }];
    const body = { code: 'PAYLOAD_INVALID', title: 'Bad', detail: 'params do not fit', errors };
    const { client, seen } = await playing([json(400, body)]);
    const error = await failure(client.enqueue('hello'));
    expect(error).toBeInstanceOf(ProblemError);
    expect(error).toMatchObject({ status: 400, code: 'PAYLOAD_INVALID', errors });
    expect((error as Error).message).toBe('params do not fit');
    expect(seen).toHaveLength(1);
  });

  test('a cancel carries no key, so it is never sent twice', async () => {
    const { client, seen } = await playing([problem(503, 'UNAVAILABLE', now)]);
    expect(await failure(client.cancel(ID))).toMatchObject({ status: 503 });
    expect(seen).toMatchObject([{ method: 'POST', url: `/v1/jobs/${ID}/cancel` }]);
  });

  test('the stack of an error names the code of the caller', async () => {
    const { client } = await playing(Array.from({ length: 3 }, () => problem(403, 'FORBIDDEN')));
    const gone = new Longshore({ url: 'http://127.0.0.1:1/', retries: 0 });
    async function ownCode(call: () => Promise<unknown>) {
      await call();
    }
    for (const call of [
      async () => await client.enqueue('hello'),
      async () => await client.schedules.list(),
      async () => await client.handle(ID).result(),
      async () => await gone.enqueue('hello'),
    ]) {
      const error = (await failure(ownCode(call))) as Error;
      expect(error.stack).toContain(`${error.name}: ${error.message}\n`);
      expect(error.stack).toContain('ownCode');
    }
  });

  test('what is no job id is not found, without asking', async () => {
    const { client, seen } = await playing([receipt]);
    expect(await failure(client.get('..'))).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    expect(seen).toEqual([]);
  });

  test('recognizes an answer from another server', async () => {
    const page =
      (status: number): Answer =>
      (response) => {
        response.writeHead(status).end('<html>');
      };
    const { client } = await playing([page(200), page(418)]);
    expect(await failure(client.definitions())).toMatchObject({ code: 'UNEXPECTED_ANSWER' });
    expect(await failure(client.definitions())).toMatchObject({ status: 418, code: 'HTTP_418' });
  });

  test('a closed port is unreachable, with the reason', async () => {
    const client = new Longshore({ url: 'http://127.0.0.1:1/', retries: 0 });
    const error = await failure(client.get(ID));
    expect(error).toBeInstanceOf(ServerUnreachable);
    expect((error as Error).message).toMatch(/^cannot reach http:\/\/127\.0\.0\.1:1: /);
  });

  test('a server that does not answer is unreachable after the timeout', async () => {
    const { client } = await playing([silence], { timeoutMs: 50, retries: 1 });
    const error = await failure(client.get(ID));
    expect((error as Error).message).toContain('no answer within 50 ms');
  });

  test('a request without an answer is sent again', async () => {
    const { client, seen } = await playing([silence, json(200, { jobId: ID })], {
      timeoutMs: 2_000,
      retries: 1,
    });
    expect(await client.get(ID)).toMatchObject({ jobId: ID });
    expect(seen).toHaveLength(2);
  });
});

describe('workers', () => {
  const WORKER = '6a1f0c52-8d0e-4f0b-9a53-1f6c2b7d9e10';

  test('are listed', async () => {
    const { client, seen } = await playing([json(200, { workers: [{ workerId: WORKER }] })]);
    expect(await client.workers()).toEqual([{ workerId: WORKER }]);
    expect(seen[0]).toMatchObject({ method: 'GET', url: '/v1/workers' });
  });

  test('are drained, and the request is sent again after a broken connection', async () => {
    const drained = { workerId: WORKER, status: 'draining' };
    const { client, seen } = await playing([hangUp, json(202, drained)]);
    expect(await client.drainWorker(WORKER)).toEqual(drained);
    expect(seen[1]).toMatchObject({ method: 'POST', url: `/v1/workers/${WORKER}/drain` });
    expect(await failure(client.drainWorker('..'))).toMatchObject({ status: 404 });
    expect(seen).toHaveLength(2);
  });
});

describe('list', () => {
  test('sends the filter, repeating what has many values', async () => {
    const { client, seen } = await playing([json(200, { jobs: [], nextCursor: null })]);
    await client.list({ status: ['queued', 'failed'], tag: 'a b', limit: 5, cursor: undefined });
    expect(seen[0]?.url).toBe('/v1/jobs?status=queued&status=failed&tag=a+b&limit=5');
  });

  test('walks over all pages', async () => {
    const { client, seen } = await playing([
      json(200, { jobs: [{ jobId: '1' }, { jobId: '2' }], nextCursor: 'c' }),
      json(200, { jobs: [], nextCursor: 'd' }),
      json(200, { jobs: [{ jobId: '3' }], nextCursor: null }),
    ]);
    const ids: string[] = [];
    for await (const job of client.listAll({ sort: 'createdAt' })) ids.push(job.jobId);
    expect(ids).toEqual(['1', '2', '3']);
    expect(seen[2]?.url).toBe('/v1/jobs?sort=createdAt&cursor=d');
  });
});
