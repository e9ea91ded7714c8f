import { once } from 'node:events';
import { connect } from 'node:net';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../runtime/clock.ts';
import { silentLog } from '../runtime/log.ts';
import { DatabaseUnavailable, Db } from '../store/connection/db.ts';
import { Waker } from '../store/connection/wake.ts';
import { Enqueuer } from '../enqueue/enqueuer.ts';
import { buildServer, HttpServer } from './server.ts';

/** Answers that there are no keys, so that the door is open on loopback. */
const run = async () => [];
const healthy = { ping: async () => undefined, run } as unknown as Db;
const deps = { db: healthy, log: silentLog, host: '127.0.0.1', port: 0, version: '1.2.3' };
const started: HttpServer[] = [];

async function serve(
  changes: Partial<typeof deps & { enqueuer: Enqueuer }> = {},
): Promise<HttpServer> {
  const server = new HttpServer({ ...deps, enqueuer: {} as Enqueuer, ...changes });
  started.push(server);
  await server.start();
  return server;
}

/** What comes back when these very bytes are sent. */
async function raw(server: HttpServer, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(server.address).port), '127.0.0.1');
  socket.end(bytes);
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
  await once(socket, 'close');
  return answer;
}

afterEach(async () => {
  for (const server of started.splice(0)) await server.stop();
});

describe('the server', () => {
  it('listens on a real port, starts and stops twice without harm', async () => {
    const server = await serve();
    await server.start();
    expect(server.address).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d+$/);
    expect((await fetch(`${server.address}/livez`)).status).toBe(200);
    const { address } = server;
    await server.stop();
    await server.stop();
    await expect(fetch(`${address}/livez`)).rejects.toThrow();
    await new HttpServer({ ...deps, enqueuer: {} as Enqueuer }).stop();
  });

  it('says in one line that its port is taken', async () => {
    const first = await serve();
    const port = Number(new URL(first.address).port);
    const second = new HttpServer({ ...deps, enqueuer: {} as Enqueuer, port });
    await expect(second.start()).rejects.toThrow(
      `another program uses port ${port} on 127.0.0.1; stop it, or choose another port: --port ${port + 1}`,
    );
    await second.stop();
  });

  it('lets an answer in progress finish when it stops', async () => {
    let answer: () => void = () => undefined;
    const asked = Promise.withResolvers<void>();
    const ping = async () => {
      asked.resolve();
      await new Promise<void>((resolve) => (answer = resolve));
    };
    const server = await serve({ db: { ping, run } as unknown as Db });
    const probe = fetch(`${server.address}/readyz`);
    await asked.promise;
    const stopped = server.stop();
    answer();
    expect((await probe).status).toBe(200);
    await stopped;
  });
});

describe('what is not HTTP', () => {
  it.each([
    ['NONSENSE\r\n\r\n', 400, 'BAD_REQUEST'],
    [
      `GET /livez HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
      431,
      'HEADERS_TOO_LARGE',
    ],
    ['GET /livez HTTP/1.1\r\nconnection: close\r\n\r\n', 421, 'MISDIRECTED_REQUEST'],
    ['GET /livez HTTP/1.0\r\n\r\n', 421, 'MISDIRECTED_REQUEST'],
  ])('%.30j is answered with a problem', async (bytes, status, code) => {
    const answer = await raw(await serve(), bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).toContain('content-type: application/problem+json');
    expect(answer).toContain(`"code":"${code}"`);
  });

  it('an empty chunked body is an empty body', async () => {
    const answer = await raw(
      await serve(),
      'POST /v1/jobs/x/cancel HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n' +
        'transfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    );
    expect(answer).toContain('"code":"NOT_FOUND"');
  });
});

describe('the probes', () => {
  it('are ready, and say more when asked', async () => {
    const { address } = await serve();
    expect(await (await fetch(`${address}/readyz`)).json()).toEqual({ status: 'ok' });
    expect(await (await fetch(`${address}/healthz?verbose`)).json()).toEqual({
      status: 'ok',
      version: '1.2.3',
      checks: [{ name: 'database', ok: true, durationMs: expect.any(Number) as number }],
    });
  });

  it('say no while draining, though the process lives and answers', async () => {
    const server = await serve();
    server.beginDrain();
    const ready = await fetch(`${server.address}/readyz`);
    expect([ready.status, ready.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await ready.json()).toMatchObject({ code: 'UNAVAILABLE' });
    expect((await fetch(`${server.address}/livez`)).status).toBe(200);
    expect((await fetch(`${server.address}/docs`)).status).toBe(200);
  });

  it('say no when the database does not respond, and live on', async () => {
    const ping = async () => {
      throw new DatabaseUnavailable('connect ECONNREFUSED 10.0.0.1:5432');
    };
    const { address } = await serve({ db: { ping, run } as unknown as Db });
    const ready = await fetch(`${address}/healthz`);
    expect(ready.status).toBe(503);
    expect(await ready.text()).not.toContain('10.0.0.1');
    expect((await fetch(`${address}/livez`)).status).toBe(200);
  });
});

describe('an unexpected error', () => {
  const lines: { msg: string; instance?: string; path?: string; err?: object }[] = [];
  const write = (line: string) => lines.push(JSON.parse(line) as (typeof lines)[number]);
  const log = pino({ level: 'debug' }, { write });
  const start = async (error: Error) => {
    const refuse = async () => {
      throw error;
    };
    const failing = { start: refuse } as unknown as Enqueuer;
    const app = buildServer({ ...deps, log, enqueuer: failing });
    const headers = { host: 'localhost' };
    lines.length = 0;
    const payload = { definitionKey: 'a' };
    const answer = await app.inject({ method: 'POST', url: '/v1/jobs', payload, headers });
    for (const url of ['/livez', '/readyz', '/openapi.json']) await app.inject({ url, headers });
    await app.close();
    return answer;
  };

  it('is logged and not shown to the caller', async () => {
    const answer = await start(new Error('select secret from /etc/passwd'));
    const problem = answer.json<Record<string, string>>();
    expect([answer.statusCode, problem.code]).toEqual([500, 'INTERNAL']);
    expect(answer.body).not.toMatch(/select|passwd|\.ts|at /);
    const logged = lines.find(({ msg }) => msg === 'request failed');
    expect(logged?.err).toMatchObject({ message: 'select secret from /etc/passwd' });
    expect(logged?.instance).toBe(problem.instance);
  });

  it('is 503 when the database is away', async () => {
    const answer = await start(new DatabaseUnavailable('10.0.0.1 refused'));
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '1']);
    expect(answer.json()).toMatchObject({ code: 'UNAVAILABLE' });
    expect(answer.body).not.toContain('10.0.0.1');
  });

  it('of a real connection that is refused is 503 everywhere, and names no address', async () => {
    const url = 'postgres://unknown@127.0.0.1:1/none';
    const db = Db.open({ clock: systemClock, url, log: silentLog });
    const enqueuer = new Enqueuer(db, new Waker(url, silentLog, systemClock), systemClock);
    const app = buildServer({ ...deps, db, enqueuer });
    const headers = { host: 'localhost' };
    const jobId = '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400';
    const payload = { definitionKey: 'a' };
    const answers = [
      await app.inject({ method: 'POST', url: '/v1/jobs', payload, headers }),
      await app.inject({ method: 'POST', url: `/v1/jobs/${jobId}/cancel`, headers }),
      await app.inject({ url: `/v1/jobs/${jobId}`, headers }),
      await app.inject({ url: '/v1/jobs', headers }),
      await app.inject({ url: '/v1/definitions', headers }),
      await app.inject({ url: '/readyz', headers }),
    ];
    for (const answer of answers) {
      expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '1']);
      expect(answer.json()).toMatchObject({ code: 'UNAVAILABLE' });
      expect(answer.body).not.toContain('127.0.0.1');
    }
    await app.close();
    await db.close();
  });

  it('leaves a line in the access log, which the probes do not', () => {
    const paths = lines.filter(({ msg }) => msg === 'request').map(({ path }) => path);
    expect(paths).toEqual(['/v1/jobs']);
  });
});
