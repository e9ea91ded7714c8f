import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  type Answer,
  END,
  event,
  hangUp,
  json,
  playAnswers,
  problem,
  type Seen,
  silence,
  stream,
} from '../../../test/support/servers/playing-server.ts';
import { type JobEvent, type JobLog, Longshore, type LongshoreOptions } from '../index.ts';
import { messagesOf } from './messages.ts';

const ID = '01980000-0000-7000-8000-000000000000';

async function playing(
  answers: Answer[],
  options: Partial<LongshoreOptions> = {},
): Promise<{ client: Longshore; seen: Seen[] }> {
  const { url, seen } = await playAnswers(...answers);
  return { client: new Longshore({ url, apiKey: 'lsk_1', retries: 0, ...options }), seen };
}

async function idsOf(entries: AsyncIterable<{ id: string }>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of entries) ids.push(id);
  return ids;
}

describe('reading', () => {
  test('goes through all pages', async () => {
    const { client, seen } = await playing([
      json(200, { events: [{ id: 'a' }, { id: 'b' }], nextCursor: 'b' }),
      json(200, { events: [{ id: 'c' }], nextCursor: null }),
    ]);
    expect(await idsOf(client.events(ID))).toEqual(['a', 'b', 'c']);
    expect(seen.map(({ url }) => url)).toEqual([
      `/v1/jobs/${ID}/events?limit=1000`,
      `/v1/jobs/${ID}/events?cursor=b&limit=1000`,
    ]);
  });

  test('of logs can be limited to an attempt and begin somewhere', async () => {
    const { client, seen } = await playing([json(200, { logs: [{ id: 'c' }], nextCursor: null })]);
    expect(await idsOf(client.handle(ID).logs({ attempt: 2, cursor: 'b' }))).toEqual(['c']);
    expect(seen[0]?.url).toBe(`/v1/jobs/${ID}/logs?attempt=2&cursor=b&limit=1000`);
  });

  test('asks for no more pages than are wanted', async () => {
    const { client, seen } = await playing([
      json(200, { logs: [{ id: 'a' }, { id: 'b' }], nextCursor: 'b' }),
    ]);
    for await (const { id } of client.logs(ID)) if (id === 'b') break;
    expect(seen).toHaveLength(1);
  });

  test('attempts are a plain list', async () => {
    const { client } = await playing([json(200, { attempts: [{ number: 1 }] })]);
    expect(await client.handle(ID).attempts()).toEqual([{ number: 1 }]);
  });

  test('gives typed entries', () => {
    const client = new Longshore({ url: 'http://127.0.0.1:1' });
    expectTypeOf(client.events(ID)).toExtend<AsyncIterable<JobEvent>>();
    expectTypeOf(client.handle(ID).logs({ follow: true })).toExtend<AsyncIterable<JobLog>>();
  });
});

describe('following', () => {
  test('ends when the server says so, and asks as it should', async () => {
    const { client, seen } = await playing([
      stream(`retry: 5\n\n${event(1)}: x\n\n${event(2)}${END}`),
    ]);
    expect(await idsOf(client.logs(ID, { follow: true, attempt: 1 }))).toEqual(['1', '2']);
    expect(seen).toMatchObject([
      {
        url: `/v1/jobs/${ID}/logs?attempt=1`,
        headers: { accept: 'text/event-stream', authorization: 'Bearer lsk_1' },
      },
    ]);
    expect(seen[0]?.headers).not.toHaveProperty('last-event-id');
  });

  test('goes on after the last entry when the connection was closed, broke or was refused', async () => {
    const { client, seen } = await playing([
      stream(event(1)),
      stream(event(2), 'break'),
      hangUp,
      problem(503, 'UNAVAILABLE'),
      stream(event(3) + END),
    ]);
    expect(await idsOf(client.handle(ID).events({ follow: true, cursor: '0' }))).toEqual([
      '1',
      '2',
      '3',
    ]);
    const resumed = seen.map(({ headers }) => headers['last-event-id']);
    expect(resumed).toEqual(['0', '1', '2', '2', '2']);
  });

  test('does not take half a message for a whole one', async () => {
    const half = event(2).slice(0, -1);
    const { client, seen } = await playing([
      stream(event(1) + half, 'break'),
      stream(event(2) + END),
    ]);
    expect(await idsOf(client.logs(ID, { follow: true }))).toEqual(['1', '2']);
    expect(seen[1]?.headers['last-event-id']).toBe('1');
  });

  test('ends at once when all had been read before', async () => {
    const { client, seen } = await playing([(response) => response.writeHead(204).end()]);
    expect(await idsOf(client.logs(ID, { follow: true, cursor: '9' }))).toEqual([]);
    expect(seen).toHaveLength(1);
  });

  test.each([
    ['a job that is not there', problem(404, 'NOT_FOUND'), { status: 404 }],
    ['a cursor that is none', problem(400, 'VALIDATION_FAILED'), { status: 400 }],
    ['an answer that is no stream', json(200, { logs: [] }), { code: 'UNEXPECTED_ANSWER' }],
    [
      'a server that wants to be left alone for long',
      problem(503, 'UNAVAILABLE', { 'retry-after': '3600' }),
      { code: 'UNAVAILABLE' },
    ],
  ])('is refused by %s', async (_, answer, expected) => {
    const { client, seen } = await playing([answer]);
    await expect(idsOf(client.logs(ID, { follow: true }))).rejects.toMatchObject(expected);
    expect(seen).toHaveLength(1);
  });

  test.each([
    ['while it is open', [stream(event(1), 'stay')]],
    ['while the server is away', [stream(event(1)), hangUp]],
    ['while the server does not answer', [stream(event(1)), silence]],
  ])('is ended by the own signal of the caller %s', async (_, answers) => {
    const { client } = await playing(answers);
    const reason = new Error('no longer needed');
    const abort = new AbortController();
    const following = idsOf(
      (async function* () {
        for await (const line of client.logs(ID, { follow: true, signal: abort.signal })) {
          setTimeout(() => abort.abort(reason), 20);
          yield line;
        }
      })(),
    );
    await expect(following).rejects.toBe(reason);
  });

  test('hangs up when the caller has seen enough', async () => {
    const gone = Promise.withResolvers<void>();
    const { client } = await playing([
      (response) => {
        response.on('close', () => gone.resolve());
        stream(event(1), 'stay')(response);
      },
    ]);
    for await (const line of client.logs(ID, { follow: true })) if (line.id === '1') break;
    await gone.promise;
  });

  test('takes a connection without any sign of life for a dead one', async () => {
    const { url } = await playAnswers(stream(event(1), 'stay'));
    const { body } = await fetch(url);
    const ids: unknown[] = [];
    for await (const { id } of messagesOf(body as ReadableStream<Uint8Array>, undefined, 50)) {
      ids.push(id);
    }
    expect(ids).toEqual(['1']);
  });
});
