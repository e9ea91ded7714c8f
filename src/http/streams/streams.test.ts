import type { ServerResponse } from 'node:http';
import { fastify, type FastifyInstance, type FastifyServerOptions } from 'fastify';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { lazyReader, listen } from '../../../test/support/servers/live-stream.ts';
import { until } from '../../../test/support/until.ts';
import { silentLog } from '../../runtime/log.ts';
import { DatabaseUnavailable } from '../../store/connection/db.ts';
import { noSuchJob } from '../cursors/job-path.ts';
import { errorHandler } from '../problem.ts';
import { type HistoryPage, STREAM_LIMITS, type StreamLimits, Streams } from './streams.ts';

interface Entry {
  id: string;
  text: string;
}
type Page = HistoryPage<Entry> | null;

/** A history that a test writes while it is being read; each question is answered in turn. */
class Script {
  readonly asked: (string | null)[] = [];
  readonly #answer: (afterId: string | null, turn: number) => Page;

  constructor(answer: (afterId: string | null, turn: number) => Page) {
    this.#answer = answer;
  }

  readonly missing = () => noSuchJob('the job');
  readonly nameOf = () => 'log';
  readonly read = async (afterId: string | null): Promise<Page> => {
    this.asked.push(afterId);
    return this.#answer(afterId, this.asked.length);
  };
}

const entry = (number: number, text = `line ${number}`): Entry => ({ id: String(number), text });
const page = (entries: Entry[], more: Partial<HistoryPage<Entry>> = {}): HistoryPage<Entry> => ({
  entries,
  nextId: null,
  ended: false,
  ...more,
});
const QUIET = page([]);
const OVER = page([], { ended: true });

/** Impatient, so that tests wait for what happens and not for time to pass. */
const QUICK: Partial<StreamLimits> = { pollMs: 5, pollMaxMs: 10, heartbeatMs: 20 };

interface Serving {
  url: string;
  app: FastifyInstance;
  streams: Streams;
  answers: ServerResponse[];
}

async function serve(
  script: Script,
  limits: Partial<StreamLimits> = {},
  options: FastifyServerOptions = {},
  log = silentLog,
): Promise<Serving> {
  const app = fastify(options);
  const streams = new Streams({ ...STREAM_LIMITS, ...QUICK, ...limits }, log);
  const answers: ServerResponse[] = [];
  app.setErrorHandler(errorHandler(log));
  app.addHook('preClose', async () => streams.close());
  app.get<{ Querystring: { after?: string } }>('/history', async (request, reply) => {
    answers.push(reply.raw);
    return await streams.answer(request, reply, script, request.query.after ?? null);
  });
  onTestFinished(async () => await app.close());
  return {
    url: `${await app.listen({ host: '127.0.0.1', port: 0 })}/history`,
    app,
    streams,
    answers,
  };
}

describe('a live stream', () => {
  it('sends what there is, then what comes, and then says that it is over', async () => {
    const script = new Script((afterId) => {
      if (afterId === null) return page([entry(1), entry(2)], { nextId: '2' });
      if (afterId === '2') return page([entry(3)]);
      return script.asked.length < 6 ? QUIET : page([entry(4)], { ended: true });
    });
    const { response, messages, closed } = await listen((await serve(script)).url);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(await closed).toBe('closed');
    expect(messages).toEqual([
      ...[1, 2, 3, 4].map((id) => ({
        id: String(id),
        event: 'log',
        data: JSON.stringify(entry(id)),
      })),
      { id: undefined, event: 'end', data: '{}' },
    ]);
    expect(script.asked).toEqual([null, '2', '3', '3', '3', '3']);
  });

  it('begins where it is asked to', async () => {
    const script = new Script(() => page([entry(8)], { ended: true }));
    const { messages, closed } = await listen(`${(await serve(script)).url}?after=7`);
    await closed;
    expect(script.asked).toEqual(['7']);
    expect(messages.map(({ id }) => id)).toEqual(['8', undefined]);
  });

  it('ends when its job has been deleted', async () => {
    const script = new Script((_, turn) => (turn === 1 ? page([entry(1)]) : null));
    const { messages, closed } = await listen((await serve(script)).url);
    expect(await closed).toBe('closed');
    expect(messages.at(-1)?.event).toBe('end');
  });

  it('is 204 when all of it has been read, 404 when there is no job', async () => {
    const over = await listen((await serve(new Script(() => OVER))).url);
    expect(over.response.status).toBe(204);
    const missing = await listen((await serve(new Script(() => null))).url);
    expect(missing.response.status).toBe(404);
    expect(missing.response.headers.get('content-type')).toContain('application/problem+json');
  });

  it('has a head without a body', async () => {
    const serving = await serve(new Script(() => QUIET));
    const answer = await fetch(serving.url, { method: 'HEAD' });
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    await until('nothing is open', () => serving.streams.size === 0);
  });
});

describe('the heartbeat', () => {
  const impatient = { connectionTimeout: 200, requestTimeout: 200 };
  const checks = { http: { connectionsCheckingInterval: 50 } };

  it('keeps a stream without news open beyond the timeouts of the server', async () => {
    const serving = await serve(new Script(() => QUIET), {}, { ...impatient, ...checks });
    const { comments, messages } = await listen(serving.url);
    await until('five timeouts have passed', () => comments.length >= 50);
    expect(serving.streams.size).toBe(1);
    expect(messages).toEqual([]);
  });

  it('is what keeps it open', async () => {
    const script = new Script(() => QUIET);
    const serving = await serve(script, { heartbeatMs: 60_000 }, { ...impatient, ...checks });
    expect(await (await listen(serving.url)).closed).toBe('broken');
    await until('nothing is open', () => serving.streams.size === 0);
  });
});

/** So much at once that no buffer on the way can take it: with the first page the reader is behind. */
const TOO_LARGE = 'x'.repeat(16 * 1024 * 1024);
const longHistory = () =>
  new Script((afterId) => {
    const number = Number(afterId ?? 0) + 1;
    const isLast = number === 3;
    return page([entry(number, TOO_LARGE)], { nextId: isLast ? null : `${number}`, ended: isLast });
  });

describe('a reader', () => {
  it('that is slow is waited for, with one page in memory', async () => {
    const script = longHistory();
    const serving = await serve(script);
    const socket = lazyReader(serving.url);
    await until('it is behind', () => serving.answers[0]?.writableNeedDrain);
    await fetch(serving.url, { method: 'HEAD' });
    expect(script.asked).toEqual([null, null]);
    let bytes = 0;
    let tail = '';
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      tail = (tail + chunk.toString('latin1')).slice(-200);
    });
    socket.resume();
    await until('all of it has arrived', () => tail.includes('event: end'));
    expect(bytes).toBeGreaterThan(3 * TOO_LARGE.length);
    expect(script.asked).toEqual([null, null, '1', '2']);
  });

  const hasBegun = (raw: ServerResponse) => raw.headersSent;
  const isBehind = (raw: ServerResponse) => raw.writableNeedDrain;

  it.each([
    ['while there is no news', () => new Script(() => QUIET), hasBegun],
    ['while it is behind', longHistory, isBehind],
  ])('that goes away %s leaves nothing behind', async (_, history, isReached) => {
    const serving = await serve(history());
    const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;
    const before = timers();
    const sockets = Array.from({ length: 12 }, () => lazyReader(serving.url));
    await until('all streams are there', () => {
      return serving.answers.length === 12 && serving.answers.every(isReached);
    });
    expect(serving.streams.size).toBe(12);
    expect(timers()).toBeGreaterThanOrEqual(before + 9);
    for (const socket of sockets) socket.destroy();
    await until('nothing is open', () => serving.streams.size === 0);
    // The test itself has a few timers that come and go.
    expect(timers()).toBeLessThan(before + 6);
  });
});

describe('the server', () => {
  it('ends all streams at once when it stops, without saying that the job is over', async () => {
    const { app, url } = await serve(new Script((afterId) => (afterId ? QUIET : page([entry(1)]))));
    const { messages, closed } = await listen(url);
    await until('it has begun', () => messages.length > 0);
    await app.close();
    expect(await closed).toBe('closed');
    expect(messages.map(({ event }) => event)).toEqual(['log']);
  });

  it('does not wait for a reader that is behind', async () => {
    const serving = await serve(longHistory());
    lazyReader(serving.url);
    await until('it is behind', () => serving.answers[0]?.writableNeedDrain);
    await serving.app.close();
    expect(serving.answers[0]?.destroyed).toBe(true);
  });

  it('refuses a stream that it would have to end at once', async () => {
    const limiter = Promise.withResolvers<Page>();
    const script = new Script(() => QUIET);
    const { url, streams } = await serve(
      Object.assign(script, { read: async () => await limiter.promise }),
    );
    const opening = listen(url);
    await until('it is being opened', () => streams.size === 1);
    streams.close();
    limiter.resolve(QUIET);
    expect((await opening).response.status).toBe(503);
    expect((await listen(url)).response.status).toBe(503);
  });

  it('has so many streams at most, and says when to try again', async () => {
    const { url, streams } = await serve(new Script(() => QUIET), { streamsMax: 2 });
    const [first] = [await listen(url), await listen(url)];
    const refused = await fetch(url, { headers: { accept: 'text/event-stream' } });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refused.json()).toMatchObject({ code: 'UNAVAILABLE' });
    first.leave();
    await until('there is room', () => streams.size < 2);
    expect((await listen(url)).response.status).toBe(200);
  });
});

describe('a database that is away', () => {
  const away = () => {
    throw new DatabaseUnavailable('gone');
  };

  it('is waited for', async () => {
    const script = new Script((_, turn) => {
      if (turn === 1) return page([entry(1)]);
      return turn < 5 ? away() : page([entry(2)], { ended: true });
    });
    const { messages, closed } = await listen((await serve(script)).url);
    expect(await closed).toBe('closed');
    expect(messages.map(({ event, id }) => id ?? event)).toEqual(['1', '2', 'end']);
    expect(script.asked).toEqual([null, '1', '1', '1', '1']);
  });

  it('is waited for a limited time', async () => {
    const script = new Script((_, turn) => (turn === 1 ? page([entry(1)]) : away()));
    const { messages, closed } = await listen((await serve(script, { outageMaxMs: 30 })).url);
    expect(await closed).toBe('closed');
    expect(messages.map(({ event }) => event)).toEqual(['log']);
  });

  it('before the stream begins is a plain 503', async () => {
    const { url, streams } = await serve(new Script(away));
    expect((await listen(url)).response.status).toBe(503);
    await until('nothing is open', () => streams.size === 0);
  });

  it('differs from a bug, which ends the stream and is logged', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
    const script = new Script((_, turn) => {
      if (turn === 1) return page([entry(1)]);
      throw new Error('a bug');
    });
    const { messages, closed } = await listen((await serve(script, {}, {}, log)).url);
    expect(await closed).toBe('closed');
    expect(messages.map(({ event }) => event)).toEqual(['log']);
    expect(lines.join()).toContain('a bug');
  });
});
