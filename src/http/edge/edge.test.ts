import type { InjectOptions } from 'fastify';
import { afterAll, describe, expect, it } from 'vitest';
import { silentLog } from '../../runtime/log.ts';
import type { Db } from '../../store/connection/db.ts';
import type { Enqueuer } from '../../enqueue/enqueuer.ts';
import { buildServer } from '../server.ts';

/** A database without keys, so that the door is open on loopback. */
const NO_KEYS = { run: async () => [] } as unknown as Db;

/** What happens before any job is touched, so a store that only counts is enough. */
const enqueuer = {
  async start(jobs: readonly unknown[]) {
    return jobs.map(() => ({ jobId: 'stored', status: 'queued' as const, created: true }));
  },
  async warnings(jobs: readonly unknown[]) {
    return jobs.map(() => []);
  },
} as unknown as Enqueuer;
const deps = {
  db: NO_KEYS,
  enqueuer,
  log: silentLog,
  host: '127.0.0.1',
  port: 0,
  version: '1.2.3',
};
const app = buildServer(deps);
afterAll(async () => await app.close());

async function call(options: InjectOptions) {
  const headers = { host: 'localhost:4400', ...options.headers };
  const answer = await app.inject({ ...options, headers });
  const isProblem = answer.headers['content-type']?.startsWith('application/problem+json');
  const problem = isProblem && answer.body !== '' ? answer.json<Record<string, unknown>>() : null;
  return { ...answer, status: answer.statusCode, headers: answer.headers, problem };
}

const post = async (payload: string | Buffer, headers: Record<string, string> = {}) =>
  await call({
    method: 'POST',
    url: '/v1/jobs',
    payload,
    headers: { 'content-type': 'application/json', ...headers },
  });

const GOOD = '{"definitionKey":"a"}';

describe('a problem', () => {
  it('has the shape of RFC 9457, and our code', async () => {
    const { problem, headers } = await call({ url: '/nowhere' });
    expect(problem).toEqual({
      type: 'urn:longshore:error:NOT_FOUND',
      title: 'Not found',
      status: 404,
      detail: 'path not found; see /docs',
      code: 'NOT_FOUND',
    });
    expect(headers['x-content-type-options']).toBe('nosniff');
  });
});

describe('the path and the method', () => {
  it.each(['/nowhere', '/v1', '/v1/jobs/', '/v1/jobs/a/b', '/v1/jobs/%zz', '//', '/V1/jobs'])(
    '%s is not there',
    async (url) => {
      const { status, problem } = await call({ url });
      expect([status, problem?.code]).toEqual([404, 'NOT_FOUND']);
    },
  );

  it('an unknown path is unknown whatever is sent to it', async () => {
    const payload = 'x'.repeat(2_000_000);
    const headers = { 'content-type': 'text/plain' };
    const { status } = await call({ method: 'POST', url: '/nowhere', payload, headers });
    expect(status).toBe(404);
  });

  it.each([
    ['PUT', '/v1/jobs', 'GET, HEAD, OPTIONS, POST'],
    ['PUT', '/v1/jobs/0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400', 'DELETE, GET, HEAD, OPTIONS'],
    ['GET', '/v1/jobs/batch', 'OPTIONS, POST'],
    ['GET', '/v1/jobs/x/cancel', 'OPTIONS, POST'],
    ['POST', '/livez', 'GET, HEAD, OPTIONS'],
    ['PROPFIND', '/v1/jobs', 'GET, HEAD, OPTIONS, POST'],
    ['QUERY', '/v1/jobs', 'GET, HEAD, OPTIONS, POST'],
  ])('%s %s is refused and told %s', async (method, url, allow) => {
    const answer = await call({ method, url });
    expect([answer.status, answer.problem?.code]).toEqual([405, 'METHOD_NOT_ALLOWED']);
    expect(answer.headers.allow).toBe(allow);
  });

  it('a wrong method is wrong before the body is looked at', async () => {
    const headers = { 'content-type': 'text/plain' };
    const answer = await call({ method: 'PUT', url: '/v1/jobs', payload: 'x', headers });
    expect(answer.status).toBe(405);
  });

  it('OPTIONS tells the methods, and opens nothing to other sites', async () => {
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
    const answer = await call({ method: 'OPTIONS', url: '/v1/jobs', headers });
    expect([answer.status, answer.headers.allow]).toEqual([204, 'GET, HEAD, OPTIONS, POST']);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('HEAD is GET without a body', async () => {
    const answer = await call({ method: 'HEAD', url: '/livez' });
    expect([answer.status, answer.body]).toEqual([200, '']);
  });

  it('no route takes query parameters it does not know', async () => {
    for (const [path, methods] of app.routeTable) {
      const url = `${path.replace(':jobId', '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400')}?surprise=1`;
      // Identity providers add parameters of their own.
      if (path === '/v1/sign-in/sso/callback') continue;
      for (const method of methods) {
        const answer = await call({ method, url });
        expect([method, url, answer.status]).toEqual([method, url, 400]);
      }
    }
  });
});

it('an unknown query parameter is named once, without a JSON pointer', async () => {
  const { body } = await call({ method: 'GET', url: '/v1/jobs?definition=hello' });
  expect(JSON.parse(body)).toMatchObject({
    detail: 'unknown query parameter "definition": did you mean "definitionKey"?',
    errors: [{ pointer: '/definition' }],
  });
});

describe('the body', () => {
  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'Application/JSON',
  ])('is read as %s', async (type) => {
    expect((await post(GOOD, { 'content-type': type })).status).toBe(202);
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/json',
    'application/vnd.api+json',
    'application/json; charset=utf-16',
    'nonsense',
    '',
  ])('is refused as %j', async (type) => {
    const { status, problem } = await post(GOOD, { 'content-type': type });
    expect([status, problem?.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
  });

  it('is refused when compressed, and when it has no type', async () => {
    expect((await post(GOOD, { 'content-encoding': 'gzip' })).status).toBe(415);
    const payload = Buffer.from(GOOD);
    const answer = await call({ method: 'POST', url: '/v1/jobs', payload });
    expect(answer.status).toBe(415);
  });

  it.each(['{', '{"a":1,}', "{'a':1}", 'undefined', '{}{}', 'NaN'])(
    '%s is no JSON',
    async (text) => {
      const { status, problem } = await post(text);
      expect([status, problem?.code]).toEqual([400, 'INVALID_JSON']);
    },
  );

  it('with wrong bytes is refused, not repaired', async () => {
    const bytes = Buffer.from([
      ...Buffer.from('{"definitionKey":"a","params":"'),
      0xff,
      0x22,
      0x7d,
    ]);
    const { problem } = await post(bytes);
    expect([problem?.code, problem?.detail]).toEqual(['INVALID_JSON', 'the body is not UTF-8']);
  });

  it('with a number that would be rounded is refused, too', async () => {
    const { status, problem } = await post('{"definitionKey":"a","params":1234567890123456789}');
    expect([status, problem?.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect(problem?.detail).toBe(
      'the number 1234567890123456789 would be rounded: send it as text',
    );
  });

  it('may begin with a byte order mark', async () => {
    expect((await post(`\ufeff${GOOD}`)).status).toBe(202);
  });

  it('may have 1 MB, and not a byte more', async () => {
    const padded = (bytes: number) => GOOD.padEnd(bytes, ' ');
    expect((await post(padded(1_048_576))).status).toBe(202);
    const { status, problem } = await post(padded(1_048_577));
    expect([status, problem?.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });

  it('of a batch may have 16 MB, and not a byte more', async () => {
    const batch = async (bytes: number) =>
      await call({
        method: 'POST',
        url: '/v1/jobs/batch',
        payload: `{"jobs":[${GOOD}]}`.padEnd(bytes, ' '),
        headers: { 'content-type': 'application/json' },
      });
    expect((await batch(16_777_216)).status).toBe(202);
    expect((await batch(16_777_217)).problem?.code).toBe('PAYLOAD_TOO_LARGE');
  });

  it('that is missing is a body that is not valid', async () => {
    const answer = await call({ method: 'POST', url: '/v1/jobs' });
    expect(answer.problem?.code).toBe('VALIDATION_FAILED');
    expect((await post('')).problem?.code).toBe('VALIDATION_FAILED');
  });
});

describe('the Host header', () => {
  it.each(['localhost', 'LOCALHOST:1', '127.0.0.1:4400', '[::1]:9', '[::1]'])(
    '%s is ours',
    async (host) => {
      expect((await call({ url: '/livez', headers: { host } })).status).toBe(200);
    },
  );

  it.each([
    'evil.example',
    'evil.example:4400',
    'localhost.evil.example',
    'localhost:4400@evil.example',
    '127.0.0.1.nip.io',
    '0.0.0.0:4400',
    '[::2]:4400',
  ])('%j is foreign', async (host) => {
    const { status, problem } = await call({ url: '/v1/definitions', headers: { host } });
    expect([status, problem?.code]).toEqual([421, 'MISDIRECTED_REQUEST']);
  });

  it('may be the configured one, also as IPv6', async () => {
    for (const [host, header] of [
      ['jobs.internal', 'jobs.internal:80'],
      ['fd00::1', '[fd00::1]:4400'],
    ] as const) {
      const other = buildServer({ ...deps, host });
      const answer = await other.inject({ url: '/livez', headers: { host: header } });
      expect(answer.statusCode).toBe(200);
      await other.close();
    }
  });
});

describe('a write', () => {
  it.each([
    {},
    { 'sec-fetch-site': 'same-origin', origin: 'http://localhost:4400' },
    { 'sec-fetch-site': 'none' },
    { origin: 'http://LOCALHOST:4400' },
    { host: 'localhost', origin: 'https://localhost' },
    { host: 'localhost:80', origin: 'http://localhost' },
  ] as Record<string, string>[])('with %j is let in', async (headers) => {
    expect((await post(GOOD, headers)).status).toBe(202);
  });

  it.each([
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site', origin: 'http://localhost:4400' },
    { origin: 'http://evil.example' },
    { origin: 'http://localhost:3000' },
    { origin: 'http://localhost' },
    { origin: 'null' },
    { origin: '' },
  ] as Record<string, string>[])('with %j is from another site', async (headers) => {
    const { status, problem } = await post(GOOD, headers);
    expect([status, problem?.code]).toEqual([403, 'FORBIDDEN']);
  });

  it('from another site is refused without a body too', async () => {
    const headers = { 'sec-fetch-site': 'cross-site' };
    const url = '/v1/jobs/0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400/cancel';
    expect((await call({ method: 'POST', url, headers })).status).toBe(403);
  });

  it('is the only thing that is refused: links from elsewhere may be followed', async () => {
    const headers = { 'sec-fetch-site': 'cross-site' };
    expect((await call({ url: '/docs', headers })).status).toBe(200);
  });
});
