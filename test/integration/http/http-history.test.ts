import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Longshore } from '../../../src/client/index.ts';
import { definitionInfo } from '../../../src/core/definition/check-definition.ts';
import type {
  AttemptView,
  DefinitionLogView,
  EventView,
  LogLine,
  LogView,
} from '../../../src/core/views/history.ts';
import { HttpServer } from '../../../src/http/server.ts';
import type { StreamLimits } from '../../../src/http/streams/streams.ts';
import type { Problem } from '../../../src/protocol/problem.ts';
import {
  AttemptsAnswer,
  DefinitionLogsAnswer,
  EventPageAnswer,
  LogPageAnswer,
  StepsAnswer,
} from '../../../src/protocol/answers/history-answer.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import type { ClaimedJob } from '../../../src/store/claim/claim.ts';
import { publishDefinitions } from '../../../src/store/enqueue/definitions.ts';
import { writeEvents } from '../../../src/store/attempt/events.ts';
import { writeLogChunks } from '../../../src/store/attempt/log-chunks.ts';
import { saveStep } from '../../../src/store/attempt/steps.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { claimAny, enqueueOne, newWorker, settleAs, SUCCESS } from '../../support/jobs.ts';
import { lazyReader, listen } from '../../support/servers/live-stream.ts';
import { until } from '../../support/until.ts';

/** What a job tells, from the rows that its worker writes to the bytes that a reader gets. */

const database = sharedDatabase();
let server: HttpServer;
let address: string;

async function serve(streams: Partial<StreamLimits> = {}, port = 0): Promise<HttpServer> {
  const { db, enqueuer } = database;
  const deps = { db, enqueuer, log: silentLog, host: '127.0.0.1', port, version: '0' };
  const made = new HttpServer({ ...deps, streams: { pollMs: 20, pollMaxMs: 40, ...streams } });
  await made.start();
  return made;
}

beforeAll(async () => {
  server = await serve();
  ({ address } = server);
});
afterAll(async () => await server.stop());

const NEAREST = expect.stringContaining('jsonl') as string;
const MISSING = '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400';

async function claimed(): Promise<ClaimedJob> {
  const id = await enqueueOne(database);
  const [job] = await claimAny(database, await newWorker(database), 1);
  if (job?.id !== id) throw new Error('another job was claimed');
  return job;
}

const line = (message: string, more: Partial<LogLine> = {}): LogLine => ({
  atMs: Date.parse('2030-01-01T00:00:00Z'),
  level: 'info',
  stream: 'stdout',
  message,
  ...more,
});

/** Writes lines as the worker of the job does; `n` counts the chunks of a claim. */
async function write(job: ClaimedJob, n: number, ...messages: string[]): Promise<void> {
  const { id, claim, attempts } = job;
  const lines = messages.map((message) => line(message));
  await writeLogChunks(database.db, 0, [{ id, claim, attempt: attempts, n, lines }]);
}

async function say(job: ClaimedJob, n: number, payload: unknown): Promise<void> {
  const { id, claim, attempts } = job;
  const event = { id, claim, attempt: attempts, n, type: 'custom' as const, ageMs: 0 };
  await writeEvents(database.db, 0, [{ ...event, payloadJson: JSON.stringify(payload) }]);
}

async function persistently(work: () => Promise<unknown>): Promise<void> {
  const done = async () => {
    await work();
    return true;
  };
  await until('the database answers', async () => await done().catch(() => false));
}

async function get(path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`${address}${path}`, { headers });
  const body: unknown = await answer.json();
  return { status: answer.status, headers: answer.headers, body };
}

const logsOf = async (path: string) =>
  (await get(path)).body as { logs: LogView[]; nextCursor: string | null };
const texts = (messages: readonly { event?: string | undefined; data: string }[]) =>
  messages
    .filter(({ event }) => event === 'log')
    .map(({ data }) => (JSON.parse(data) as LogView).message);
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}`);

describe('pages', () => {
  it('of logs have every line once, in order, and lead on', async () => {
    const job = await claimed();
    await write(job, 0, ...numbered(25).slice(0, 10));
    await write(job, 1, ...numbered(25).slice(10));
    let path: string | undefined = `/v1/jobs/${job.id}/logs?limit=10`;
    const seen: LogView[] = [];
    const sizes: number[] = [];
    while (path) {
      const { headers, body }: Awaited<ReturnType<typeof get>> = await get(path);
      const { logs, nextCursor } = LogPageAnswer.parse(body);
      seen.push(...(logs as LogView[]));
      sizes.push(logs.length);
      const next: string | undefined = /^<(.*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
      expect(next ?? null).toEqual(nextCursor && expect.stringContaining(`cursor=${nextCursor}`));
      path = next;
    }
    expect(seen.map(({ message }) => message)).toEqual(numbered(25));
    expect(sizes).toEqual([10, 10, 5]);
    expect(seen[0]).toEqual({
      id: expect.any(String) as string,
      attempt: 1,
      at: '2030-01-01T00:00:00.000Z',
      level: 'info',
      stream: 'stdout',
      message: 'line 0',
    });
  });

  it('of logs continue after any line, and can be those of one attempt', async () => {
    const first = await claimed();
    await write(first, 0, 'a', 'b');
    await settleAs(database, first, { kind: 'lost', message: 'its worker is gone' });
    const [second] = await claimAny(database, await newWorker(database), 1);
    await write(second as ClaimedJob, 0, 'c');
    const base = `/v1/jobs/${first.id}/logs`;
    const { logs } = await logsOf(base);
    expect(logs.map(({ message, attempt }) => `${message}${attempt}`)).toEqual(['a1', 'b1', 'c2']);
    const after = await logsOf(`${base}?cursor=${logs[0]?.id}`);
    expect(after.logs.map(({ message }) => message)).toEqual(['b', 'c']);
    const ofSecond = await logsOf(`${base}?attempt=2`);
    expect(ofSecond.logs.map(({ message }) => message)).toEqual(['c']);
    const { attempts } = AttemptsAnswer.parse((await get(`/v1/jobs/${first.id}/attempts`)).body);
    expect((attempts as AttemptView[]).map(({ number, error }) => [number, error?.code])).toEqual([
      [1, 'LEASE_EXPIRED'],
      [2, undefined],
    ]);
  });

  it('of events show the history from the beginning', async () => {
    const job = await claimed();
    await say(job, 0, { step: 'half' });
    await settleAs(database, job, SUCCESS);
    const { body } = await get(`/v1/jobs/${job.id}/events`);
    const { events, nextCursor } = EventPageAnswer.parse(body);
    expect(events.map(({ type }) => type)).toEqual([
      'created',
      'queued',
      'started',
      'custom',
      'succeeded',
    ]);
    expect(nextCursor).toBeNull();
    const { body: rest } = await get(`/v1/jobs/${job.id}/events?cursor=${events[3]?.id}&limit=1`);
    expect(rest).toMatchObject({ events: [{ type: 'succeeded' }], nextCursor: null });
  });

  it('of logs can be downloaded together, as text or as JSON', async () => {
    const job = await claimed();
    const count = 2_300;
    await write(job, 0, ...numbered(count));
    const file = async (query: string) => {
      const response = await fetch(`${address}/v1/jobs/${job.id}/logs/download${query}`);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="job-/);
      return { type: response.headers.get('content-type'), text: await response.text() };
    };
    const { type, text } = await file('');
    expect(type).toBe('text/plain; charset=utf-8');
    const lines = text.split('\n').slice(0, -1);
    expect(lines.map((one) => one.replace(/^.* out /, ''))).toEqual(numbered(count));
    expect(lines[0]).toBe('2030-01-01T00:00:00.000Z #1 info  out line 0');
    const json = (await file('?format=jsonl&attempt=1')).text.split('\n').slice(0, -1);
    expect(json.map((one) => (JSON.parse(one) as LogView).message)).toEqual(numbered(count));
    expect((await file('?attempt=2')).text).toBe('');
    const { body } = await get(`/v1/jobs/${job.id}/logs/download?format=json`);
    expect(body).toMatchObject({ errors: [{ pointer: '/format', detail: NEAREST }] });
  });

  it('of steps say how long each ran, and which attempt ran it', async () => {
    const { id, claim } = await claimed();
    for (const [name, durationMs] of [['query', 1_250] as const, ['render', null] as const]) {
      await saveStep(database.db, 0, { id, claim, name, valueJson: '1', durationMs });
    }
    const { steps } = StepsAnswer.parse((await get(`/v1/jobs/${id}/steps`)).body);
    expect(steps).toMatchObject([
      { name: 'query', claim, durationMs: 1_250, value: 1 },
      { name: 'render', claim, durationMs: null },
    ]);
  });

  it('of a job that wrote nothing are empty', async () => {
    const jobId = await enqueueOne(database, { hold: true });
    expect(await logsOf(`/v1/jobs/${jobId}/logs`)).toEqual({ logs: [], nextCursor: null });
    expect((await get(`/v1/jobs/${jobId}/attempts`)).body).toEqual({ attempts: [] });
  });
});

describe('refusals', () => {
  const STREAM = { accept: 'text/event-stream' };

  it.each(['attempts', 'events', 'logs', 'logs/download', 'steps'])(
    '%s knows its job',
    async (name) => {
      for (const id of [MISSING, 'x']) {
        const { status, body } = await get(`/v1/jobs/${id}/${name}`, STREAM);
        expect([status, (body as Problem).code]).toEqual([404, 'NOT_FOUND']);
      }
    },
  );

  it.each([
    ['limit=0', '/limit'],
    ['limit=1001', '/limit'],
    ['cursor=x', '/cursor'],
    ['cursor=1-0', '/cursor'],
    ['cursr=1-0-0', '/cursr'],
  ])('events and logs do not take %s, live or not', async (query, pointer) => {
    const jobId = await enqueueOne(database, { hold: true });
    for (const name of ['events', 'logs']) {
      for (const headers of [{}, STREAM]) {
        const { status, body } = await get(`/v1/jobs/${jobId}/${name}?${query}`, headers);
        expect([status, (body as Problem).errors?.[0]?.pointer]).toEqual([400, pointer]);
      }
    }
  });

  it('an attempt is a number, and only logs have one', async () => {
    const jobId = await enqueueOne(database, { hold: true });
    expect((await get(`/v1/jobs/${jobId}/logs?attempt=0`)).status).toBe(400);
    expect((await get(`/v1/jobs/${jobId}/events?attempt=1`)).status).toBe(400);
  });

  it.each(['x', '', '1-0-0, 1-0-0'])('Last-Event-ID %j is none of ours', async (lastId) => {
    const jobId = await enqueueOne(database, { hold: true });
    const headers = { ...STREAM, 'last-event-id': lastId };
    const { status, body } = await get(`/v1/jobs/${jobId}/logs`, headers);
    expect([status, (body as Problem).detail]).toEqual([
      400,
      expect.stringContaining('Last-Event-ID'),
    ]);
  });

  it('another web site can neither read nor frame a stream', async () => {
    const job = await claimed();
    const { response } = await listen(`${address}/v1/jobs/${job.id}/logs`);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    });
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
    const misled = lazyReader(`${address}/v1/jobs/${job.id}/logs`, 'evil.example');
    const [answer] = (await once(misled.resume(), 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 421 /);
  });
});

describe('a live stream', () => {
  it('has the lines of before and of now, and ends with the job', async () => {
    const job = await claimed();
    await write(job, 0, 'before');
    const { messages, closed } = await listen(`${address}/v1/jobs/${job.id}/logs`);
    await until('the first line is there', () => messages.length === 1);
    await write(job, 1, 'now', 'and now');
    await until('the next ones are there', () => messages.length === 3);
    await settleAs(database, job, SUCCESS);
    expect(await closed).toBe('closed');
    expect(texts(messages)).toEqual(['before', 'now', 'and now']);
    expect(messages.at(-1)).toMatchObject({ event: 'end', data: '{}' });
  });

  it('of events names each by its type', async () => {
    const job = await claimed();
    const { messages, closed } = await listen(`${address}/v1/jobs/${job.id}/events`);
    await until('it has started', () => messages.length === 3);
    await say(job, 0, 'half');
    await settleAs(database, job, SUCCESS);
    await closed;
    const names = messages.map(({ event }) => event);
    expect(names).toEqual(['created', 'queued', 'started', 'custom', 'succeeded', 'end']);
    const [, , , custom] = messages;
    expect(custom?.id).toBe((JSON.parse(custom?.data ?? '') as EventView).id);
  });

  it('goes on after Last-Event-ID, before a cursor in the same URL', async () => {
    const job = await claimed();
    await write(job, 0, ...numbered(5));
    const url = `${address}/v1/jobs/${job.id}/logs`;
    const all = await listen(url);
    await until('all are there', () => all.messages.length === 5);
    all.leave();
    const [first, , third] = all.messages.map(({ id }) => id ?? '');
    const byCursor = await listen(`${url}?cursor=${first}`);
    const byHeader = await listen(`${url}?cursor=${first}`, { 'last-event-id': third ?? '' });
    await settleAs(database, job, SUCCESS);
    await Promise.all([byCursor.closed, byHeader.closed]);
    expect(texts(byCursor.messages)).toEqual(numbered(5).slice(1));
    expect(texts(byHeader.messages)).toEqual(numbered(5).slice(3));
  });

  it('is 204 for a reader that reconnects after the end, so that a browser stops', async () => {
    const job = await claimed();
    await write(job, 0, 'only');
    await settleAs(database, job, SUCCESS);
    const url = `${address}/v1/jobs/${job.id}/logs`;
    const { messages, closed } = await listen(url);
    await closed;
    expect(messages.map(({ event }) => event)).toEqual(['log', 'end']);
    const again = await listen(url, { 'last-event-id': messages[0]?.id ?? '' });
    expect(again.response.status).toBe(204);
  });

  it('ends when its job is deleted', async () => {
    const jobId = await enqueueOne(database, { hold: true });
    const { messages, closed } = await listen(`${address}/v1/jobs/${jobId}/events`);
    await until('it has begun', () => messages.length > 0);
    await database.sql('delete from longshore.job where id = $1', [jobId]);
    await closed;
    expect(messages.at(-1)?.event).toBe('end');
    await database.sql('delete from longshore.waiting where id = $1', [jobId]);
  });

  it('loses nothing to a reader that is slow', async () => {
    const job = await claimed();
    const wide = numbered(6_000).map((text) => text.padEnd(1_000, '.'));
    for (let n = 0; n < 6; n += 1) await write(job, n, ...wide.slice(n * 1_000, (n + 1) * 1_000));
    await settleAs(database, job, SUCCESS);
    const socket = lazyReader(`${address}/v1/jobs/${job.id}/logs?limit=100`);
    let bytes = '';
    // A little at a time, with other things between: the server has to wait over and over.
    for await (const chunk of socket) {
      bytes += (chunk as Buffer).toString();
      await new Promise(setImmediate);
    }
    const seen = [...bytes.matchAll(/"message":"(line \d+)\./g)].map(([, message]) => message);
    expect(seen).toEqual(numbered(6_000));
    expect(bytes).toContain('event: end');
  });

  it('ends when the server stops, and goes on at the next one', async () => {
    const job = await claimed();
    await write(job, 0, 'one');
    const first = await serve();
    const { messages, closed } = await listen(`${first.address}/v1/jobs/${job.id}/logs`);
    await until('it has begun', () => messages.length === 1);
    await first.stop();
    expect(await closed).toBe('closed');
    expect(messages.map(({ event }) => event)).toEqual(['log']);
    await write(job, 1, 'two');
    const next = await serve();
    onTestFinished(async () => await next.stop());
    const resumed = await listen(`${next.address}/v1/jobs/${job.id}/logs`, {
      'last-event-id': messages[0]?.id ?? '',
    });
    await until('it goes on', () => texts(resumed.messages).join() === 'two');
  });

  it('frees its slot when its reader disconnects', async () => {
    const job = await claimed();
    const own = await serve({ streamsMax: 1 });
    onTestFinished(async () => await own.stop());
    const url = `${own.address}/v1/jobs/${job.id}/logs`;
    const reader = lazyReader(url);
    await once(reader.resume(), 'data');
    expect((await listen(url)).response.status).toBe(503);
    reader.destroy();
    await until('the place is free', async () => (await listen(url)).response.status === 200);
  });

  it('survives the loss of all connections to the database', async () => {
    const job = await claimed();
    const { messages, closed } = await listen(`${address}/v1/jobs/${job.id}/logs`);
    await write(job, 0, 'before');
    await until('the first line is there', () => messages.length === 1);
    await database.sql(
      `select pg_terminate_backend(pid, 10000) from pg_stat_activity
       where datname = current_database() and application_name = 'longshore'`,
    );
    // The pool learns of each loss only when it uses that connection, and so does a worker.
    await persistently(async () => await write(job, 1, 'after'));
    await persistently(async () => await settleAs(database, job, SUCCESS));
    expect(await closed).toBe('closed');
    expect(texts(messages)).toEqual(['before', 'after']);
  });
});

describe('the SDK', () => {
  it('reads, follows and resumes over a restart of the server', async () => {
    const job = await claimed();
    await write(job, 0, ...numbered(3));
    const first = await serve();
    const port = Number(new URL(first.address).port);
    const handle = new Longshore({ url: first.address }).handle(job.id);
    const reached = Promise.withResolvers<void>();
    const following = (async () => {
      const seen: string[] = [];
      for await (const { message } of handle.logs({ follow: true })) {
        seen.push(message);
        if (message === 'line 2') reached.resolve();
      }
      return seen;
    })();
    await reached.promise;
    await first.stop();
    await write(job, 1, 'while it was away');
    const second = await serve({}, port);
    onTestFinished(async () => await second.stop());
    await settleAs(database, job, SUCCESS);
    expect(await following).toEqual([...numbered(3), 'while it was away']);
    const again: string[] = [];
    for await (const { message } of handle.logs()) again.push(message);
    expect(again).toEqual([...numbered(3), 'while it was away']);
    expect(await handle.attempts()).toMatchObject([{ number: 1, error: null }]);
    const types: string[] = [];
    for await (const { type } of handle.events({ follow: true })) types.push(type);
    expect(types).toEqual(['created', 'queued', 'started', 'succeeded']);
  });
});

describe('the log of a definition', () => {
  /** Jobs of other definitions and tenants are beside them. */
  async function talking(key: string, tenant = 'default'): Promise<ClaimedJob> {
    const id = await enqueueOne(database, { definitionKey: key, tenant });
    const jobs = await claimAny(database, await newWorker(database), 100);
    const job = jobs.find((one) => one.id === id);
    if (!job) throw new Error('no job was claimed');
    return job;
  }
  const publish = async (key: string) =>
    await publishDefinitions(database.db, [definitionInfo({ key }, { paramsSchema: null })]);
  const page = async (key: string, query = '') =>
    (await get(`/v1/definitions/${key}/logs${query}`)).body as { logs: DefinitionLogView[] };

  it('has the lines of its running and ended jobs, the oldest first, and of no others', async () => {
    await publish('tail.a');
    await publish('tail.b');
    const [first, second] = [await talking('tail.a'), await talking('tail.a')];
    const other = await talking('tail.b');
    await write(first, 1, 'one', 'two');
    await write(other, 1, 'of another definition');
    await write(await talking('tail.a', 'acme'), 1, 'of another tenant');
    await write(second, 1, 'three');
    await settleAs(database, first, SUCCESS);
    const { logs } = await page('tail.a');
    expect(logs.map(({ jobId, message }) => [jobId, message])).toEqual([
      [first.id, 'one'],
      [first.id, 'two'],
      [second.id, 'three'],
    ]);
    expect(DefinitionLogsAnswer.safeParse({ logs }).error).toBeUndefined();
    expect((await page('tail.a', '?limit=1')).logs.map(({ message }) => message)).toEqual([
      'three',
    ]);
    expect((await get('/v1/definitions/tail.c/logs')).status).toBe(404);
    expect((await get('/v1/definitions/tail.a/logs?cursor=x')).status).toBe(400);
  });

  it('goes on with new lines of old and new jobs, each once', async () => {
    await publish('tail.live');
    const old = await talking('tail.live');
    await write(old, 1, 'before');
    const { messages, leave } = await listen(`${address}/v1/definitions/tail.live/logs`);
    const heard = () => messages.map(({ data }) => (JSON.parse(data) as LogView).message);
    await until('the first line arrives', () => heard().length === 1);
    await write(old, 2, 'more');
    await until('it goes on', () => heard().length === 2);
    const young = await talking('tail.live');
    await write(young, 1, 'young');
    await settleAs(database, young, SUCCESS);
    await until('a job that has ended meanwhile is heard', () => heard().length === 3);
    await write(old, 3, 'last');
    await until('the old one is still heard', () => heard().length === 4);
    expect(heard()).toEqual(['before', 'more', 'young', 'last']);
    leave();
    // A reader that comes back gets the lines of the last seconds again, with the same ids.
    const again = await listen(
      `${address}/v1/definitions/tail.live/logs?cursor=${messages.at(-1)?.id}`,
    );
    await until('it resumes', () => again.messages.some(({ id }) => id === messages.at(-1)?.id));
    again.leave();
  });

  it('follows through the SDK, without repeated lines', async () => {
    await publish('tail.sdk');
    const job = await talking('tail.sdk');
    await write(job, 1, 'a');
    const client = new Longshore({ url: address });
    const stop = new AbortController();
    const found: string[] = [];
    for await (const { message, jobId } of client.definitionLogs('tail.sdk', {
      follow: true,
      signal: stop.signal,
    })) {
      found.push(`${jobId === job.id} ${message}`);
      if (message === 'a') await write(job, 2, 'b');
      else break;
    }
    expect(found).toEqual(['true a', 'true b']);
    const rest = [];
    for await (const { message } of client.definitionLogs('tail.sdk')) rest.push(message);
    expect(rest).toEqual(['a', 'b']);
  });
});
