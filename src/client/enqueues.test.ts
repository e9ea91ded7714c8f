import { context, trace } from '@opentelemetry/api';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { ServerResponse } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  type Answer,
  hangUp,
  json,
  playAnswers,
  problem,
  type Seen,
  silence,
} from '../../test/support/servers/playing-server.ts';
import { until } from '../../test/support/until.ts';
import { Longshore, type LongshoreOptions } from './index.ts';

interface Body {
  requestId: string;
  definitionKey: string;
  params: { n: number };
  jobs?: Body[];
}

/** Plays the answers, of which `receipts` has the request id of each job as its id. */
async function playing(
  answers: (Answer | 'receipts')[] = ['receipts'],
  options: Partial<LongshoreOptions> = {},
) {
  const sent = (): Seen => seen.at(-1) ?? ({} as Seen);
  const receipts: Answer = (response) => answerWithReceipts(response, sent());
  const { url, seen } = await playAnswers(
    ...answers.map((answer) => (answer === 'receipts' ? receipts : answer)),
  );
  const requests = () =>
    seen.map(({ url: path, body }) => {
      const { jobs, ...job } = body as Body;
      return { path, jobs: (jobs ?? [job as Body]).map(({ params }) => params.n) };
    });
  return { client: new Longshore({ url, ...options }), seen, requests };
}

function answerWithReceipts(response: ServerResponse, { body }: Seen): void {
  const receipt = ({ params }: Body) => ({ jobId: `job-${params.n}`, status: 'queued' });
  const { jobs } = body as Body;
  json(202, jobs ? { jobs: jobs.map(receipt) } : receipt(body as Body))(response);
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
const sorted = (list: number[]) => list.toSorted((a, b) => a - b);
const enqueueAll = (client: Longshore, count: number) =>
  numbers(count).map(async (n) => (await client.enqueue('work', { n })).id);
const idsOf = (count: number) => numbers(count).map((n) => `job-${n}`);
const refused = (pointer: string) =>
  json(400, { code: 'VALIDATION_FAILED', detail: 'no', errors: [{ pointer, detail: 'wrong' }] });

describe('concurrent calls', () => {
  test('of one moment share a request, and each gets its own answer', async () => {
    const { client, requests } = await playing();
    expect(await Promise.all(enqueueAll(client, 3))).toEqual(idsOf(3));
    expect(requests()).toEqual([{ path: '/v1/jobs/batch', jobs: [0, 1, 2] }]);
    expect((await client.enqueue('work', { n: 7 })).id).toBe('job-7');
    expect(requests()[1]).toEqual({ path: '/v1/jobs', jobs: [7] });
  });

  test('wait for an answer and are then sent together', async () => {
    const held: ServerResponse[] = [];
    const hold: Answer = (response) => void held.push(response);
    const { client, seen, requests } = await playing([hold, hold, 'receipts']);
    const first = client.enqueue('work', { n: 10 });
    await until('the first is sent', () => seen.length === 1);
    const second = client.enqueue('work', { n: 11 });
    await until('the second is sent', () => seen.length === 2);
    const others = enqueueAll(client, 3);
    for (const [index, response] of held.entries()) {
      const sent = seen[index];
      if (sent) answerWithReceipts(response, sent);
    }
    expect([(await first).id, (await second).id]).toEqual(['job-10', 'job-11']);
    expect(await Promise.all(others)).toEqual(idsOf(3));
    expect(requests()[2]).toEqual({ path: '/v1/jobs/batch', jobs: [0, 1, 2] });
  });

  test('do not wait for a server that is silent to others', async () => {
    const { client, seen } = await playing([silence, silence, 'receipts']);
    const stop = new AbortController();
    const silent = numbers(2).map(async (n) => {
      await until('the one before is sent', () => seen.length === n);
      await client.enqueue('work', { n }, { signal: stop.signal });
    });
    await until('both are sent', () => seen.length === 2);
    expect((await client.enqueue('work', { n: 5 })).id).toBe('job-5');
    stop.abort(new Error('enough'));
    await expect(Promise.all(silent)).rejects.toThrow('enough');
  });

  test('are sent alone with a key of their own, or when they are large', async () => {
    const { client, requests } = await playing();
    const text = 'x'.repeat(20_000);
    await Promise.all([
      ...enqueueAll(client, 2),
      client.enqueue('work', { n: 10 }, { idempotencyKey: 'mine' }),
      client.enqueue('work', { n: 11 }, { unique: { while: 'queued' } }),
      client.enqueue('work', { n: 12 }, { concurrencyKey: 'one' }),
      client.enqueue('work', { n: 13, text }),
    ]);
    const alone = requests().filter(({ path }) => path === '/v1/jobs');
    expect(sorted(alone.flatMap(({ jobs }) => jobs))).toEqual([10, 11, 12, 13]);
    expect(requests()).toContainEqual({ path: '/v1/jobs/batch', jobs: [0, 1] });
  });

  test('keep within the limits of a request', async () => {
    const { client, requests } = await playing();
    expect(await Promise.all(enqueueAll(client, 501))).toEqual(idsOf(501));
    expect(sorted(requests().map(({ jobs }) => jobs.length))).toEqual([1, 500]);
    const text = 'x'.repeat(16_000);
    await Promise.all(numbers(9).map(async (n) => await client.enqueue('work', { n, text })));
    await Promise.all(numbers(11).map(async (n) => await client.enqueue(`work-${n}`, { n })));
    const sizes = requests().map(({ jobs }) => jobs.length);
    expect(sorted(sizes.slice(2, 4))).toEqual([1, 8]);
    expect(sorted(sizes.slice(4))).toEqual([1, 10]);
  });

  test('send the params as they were at the call', async () => {
    const { client, requests } = await playing();
    const params = { n: 1 };
    const calls = [client.enqueue('work', params), client.enqueue('work', params)];
    params.n = 2;
    await Promise.all(calls);
    expect(requests()).toEqual([{ path: '/v1/jobs/batch', jobs: [1, 1] }]);
  });

  test('of different spans do not share a request', async () => {
    new NodeTracerProvider().register();
    onTestFinished(() => {
      trace.disable();
      context.disable();
    });
    const { client, seen, requests } = await playing();
    const inSpan = async (from: number) =>
      await trace.getTracer('app').startActiveSpan('request', async (span) => {
        const two = [from, from + 1].map(async (n) => await client.enqueue('work', { n }));
        await Promise.all(two);
        return span.spanContext().spanId;
      });
    const spans = await Promise.all([inSpan(0), inSpan(2)]);
    const sent = seen.map(({ headers }, index) => ({
      span: String(headers['traceparent']).split('-')[2],
      jobs: requests()[index]?.jobs,
    }));
    expect(sent).toHaveLength(2);
    expect(sent).toContainEqual({ span: spans[0], jobs: [0, 1] });
    expect(sent).toContainEqual({ span: spans[1], jobs: [2, 3] });
  });
});

describe('a shared request', () => {
  test('that broke or was put off is sent again with the same request ids', async () => {
    const later = problem(503, 'UNAVAILABLE', { 'retry-after': '0' });
    const limited = problem(429, 'RATE_LIMITED', { 'retry-after': '0' });
    const { client, seen } = await playing([hangUp, later, limited, 'receipts']);
    expect(await Promise.all(enqueueAll(client, 3))).toEqual(idsOf(3));
    expect(seen).toHaveLength(4);
    for (const { body } of seen) expect(body).toEqual(seen[0]?.body);
    const ids = seen.flatMap(({ body }) => (body as Body).jobs?.map((job) => job.requestId));
    expect(new Set(ids).size).toBe(3);
  });

  test('that is refused for one job fails only its caller, with its own error', async () => {
    const { client, seen, requests } = await playing([
      refused('/jobs/1/params'),
      (response) => {
        const sent = seen.at(-1) as Seen;
        if (sent.url === '/v1/jobs') refused('/params')(response);
        else answerWithReceipts(response, sent);
      },
    ]);
    const [one, two, three] = await Promise.allSettled(enqueueAll(client, 3));
    expect([one, three]).toMatchObject([{ value: 'job-0' }, { value: 'job-2' }]);
    const errors = [{ pointer: '/params', detail: 'wrong' }];
    expect(two).toMatchObject({ reason: { status: 400, code: 'VALIDATION_FAILED', errors } });
    expect(requests().slice(1)).toHaveLength(2);
    expect(requests()).toContainEqual({ path: '/v1/jobs/batch', jobs: [0, 2] });
    expect(requests()).toContainEqual({ path: '/v1/jobs', jobs: [1] });
    const idOf = ({ jobs, ...job }: Body, n: number) =>
      (jobs ?? [job]).find(({ params }) => params.n === n)?.requestId;
    const ids = numbers(3).map(
      (n) => new Set(seen.flatMap(({ body }) => idOf(body as Body, n) ?? [])).size,
    );
    expect(ids).toEqual([1, 1, 1]);
  });

  test.each([
    ['as a whole', problem(413, 'PAYLOAD_TOO_LARGE')],
    ['by a quota, which may have room for some', problem(429, 'QUOTA_EXCEEDED')],
    ['again and again', refused('/jobs/0/params')],
    ['with an answer for other jobs', json(202, { jobs: [] })],
  ])('that is refused %s becomes single requests', async (_, refusal) => {
    const { client, seen, requests } = await playing([
      (response) => {
        const sent = seen.at(-1) as Seen;
        if (sent.url === '/v1/jobs') answerWithReceipts(response, sent);
        else refusal(response);
      },
    ]);
    expect(await Promise.all(enqueueAll(client, 4))).toEqual(idsOf(4));
    const alone = requests().filter(({ path }) => path === '/v1/jobs');
    expect(sorted(alone.flatMap(({ jobs }) => jobs))).toEqual(numbers(4));
    expect(seen.length - alone.length).toBeLessThan(3);
  });

  test('that gets no answer fails all its callers', async () => {
    const { client } = await playing([hangUp], { retries: 0 });
    for (const one of await Promise.allSettled(enqueueAll(client, 2))) {
      expect(one).toMatchObject({ status: 'rejected', reason: { name: 'ServerUnreachable' } });
    }
  });
});

describe('an abort', () => {
  test('of one caller leaves the others alone', async () => {
    const held: ServerResponse[] = [];
    const { client, seen } = await playing([(response) => void held.push(response)]);
    const stop = new AbortController();
    const aborted = client.enqueue('work', { n: 9 }, { signal: stop.signal });
    const others = enqueueAll(client, 2);
    await until('they are sent', () => held.length === 1);
    stop.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
    const [response] = held;
    if (response) answerWithReceipts(response, seen[0] as Seen);
    expect(await Promise.all(others)).toEqual(idsOf(2));
    expect(seen).toHaveLength(1);
  });

  test('of all callers ends the request', async () => {
    const held: ServerResponse[] = [];
    const { client } = await playing([(response) => void held.push(response)]);
    const stop = new AbortController();
    const calls = numbers(2).map(
      async (n) => await client.enqueue('work', { n }, { signal: stop.signal }),
    );
    await until('they are sent', () => held.length === 1);
    stop.abort(new Error('enough'));
    for (const one of await Promise.allSettled(calls)) {
      expect(one).toMatchObject({ reason: { message: 'enough' } });
    }
    await until('the connection is closed', () => held[0]?.destroyed);
  });

  test('before the request keeps the job from being sent', async () => {
    const { client, requests } = await playing();
    const stop = new AbortController();
    const aborted = client.enqueue('work', { n: 9 }, { signal: stop.signal });
    const others = enqueueAll(client, 2);
    stop.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
    await expect(client.enqueue('work', { n: 8 }, { signal: stop.signal })).rejects.toThrow(
      'enough',
    );
    await Promise.all(others);
    expect(requests().flatMap(({ jobs }) => jobs)).toEqual([0, 1]);
  });
});
