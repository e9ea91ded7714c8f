import { connect } from 'node:net';
import { once } from 'node:events';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { HttpServer } from '../../../src/http/server.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { serverOn, callAs, newKey } from '../../support/server-edge.ts';

/** What a hostile caller with a good key may try; docs/operate/security.md says which attack each one is. */
const database = sharedDatabase();
let app: FastifyInstance;
let key: string;

beforeAll(async () => {
  app = serverOn(database);
  ({ key } = await newKey(database, 'default', 'admin'));
});
afterAll(async () => {
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  await app.close();
});

const post = async (payload: string, url = '/v1/jobs') =>
  await callAs(app, key, 'POST', url, {
    payload,
    headers: { 'content-type': 'application/json' },
  });

const is4xx = (status: number) => status >= 400 && status < 500;

describe('text where a name is expected', () => {
  const HOSTILE = [
    "'",
    "'; drop table longshore.job; --",
    '$1',
    '::text',
    '%',
    '\\',
    '\u0000',
    '\ud800',
    '{"a":1}',
    '../../etc/passwd',
    '..%2f..%2f',
    "' or 1=1 --",
    'x'.repeat(10_000),
  ];

  it('is data to every query parameter, and never an error of ours', async () => {
    const asked: Record<string, string[]> = {
      '/v1/jobs': [
        'status',
        'definitionKey',
        'tag',
        'createdAfter',
        'sort',
        'q',
        'cursor',
        'limit',
      ],
      '/v1/dead-letters': ['definitionKey', 'errorCode', 'from', 'q', 'cursor', 'limit'],
      '/v1/schedules': ['definitionKey', 'name', 'enabled', 'cursor', 'limit'],
      '/v1/audit': ['actor', 'action', 'subject', 'q', 'after', 'cursor', 'limit', 'tenant'],
    };
    for (const [path, names] of Object.entries(asked)) {
      for (const name of names) {
        for (const text of HOSTILE) {
          const value = encodeURIComponent(text.toWellFormed());
          const { status } = await callAs(app, key, 'GET', `${path}?${name}=${value}`);
          expect([path, name, text, [200, 400].includes(status)]).toEqual([path, name, text, true]);
        }
      }
    }
    expect(await database.sql('select 1 from longshore.job limit 1')).toEqual([]);
  });

  it('is no id', async () => {
    for (const text of HOSTILE) {
      const id = encodeURIComponent(text.toWellFormed());
      for (const path of ['jobs', 'schedules', 'webhooks', 'keys']) {
        const method = path === 'keys' ? 'DELETE' : 'GET';
        const { status } = await callAs(app, key, method, `/v1/${path}/${id}`);
        expect([path, text, [404, 431].includes(status)]).toEqual([path, text, true]);
      }
    }
  });

  it('is nothing that any path could mean', async () => {
    const paths = [...app.routeTable].filter(([path]) => path.includes('/:'));
    expect(paths.length).toBeGreaterThan(20);
    for (const [path, methods] of paths) {
      for (const method of methods) {
        for (const text of HOSTILE) {
          const url = path.replaceAll(/:\w+/g, encodeURIComponent(text.toWellFormed()));
          const payload = method === 'PATCH' ? { payload: { weight: 2 } } : {};
          const { status } = await callAs(app, key, method, url, payload);
          expect([method, path, text, status]).toEqual([
            method,
            path,
            text,
            expect.toSatisfy(is4xx),
          ]);
        }
      }
    }
  });

  it('is no cron expression and no time zone, however long', async () => {
    for (const cron of ['* '.repeat(5_000), '0 0 31 2 *', '*/'.repeat(50), '1-'.repeat(99)]) {
      const body = JSON.stringify({ definitionKey: 'a', cron, timezone: 'Etc/'.repeat(10) });
      expect((await post(body, '/v1/schedules')).status).toBe(400);
    }
  });
});

describe('a body', () => {
  it('may not set what is ours', async () => {
    for (const field of ['tenant', 'status', 'attempts', 'claim', 'jobId', 'createdAt', 'queue']) {
      const answer = await post(JSON.stringify({ definitionKey: 'a', [field]: 'x' }));
      expect([field, answer.status, answer.code]).toEqual([field, 400, 'VALIDATION_FAILED']);
    }
    const forged = { name: 'x', scopes: ['admin'], tenant: 'acme', keyId: '0'.repeat(16) };
    expect((await post(JSON.stringify(forged), '/v1/keys')).status).toBe(400);
  });

  it.each([
    ['nests 100,000 arrays', `{"definitionKey":"a","params":${'['.repeat(1e5)}${']'.repeat(1e5)}}`],
    [
      'nests 50,000 objects',
      `{"definitionKey":"a","params":${'{"a":'.repeat(5e4)}1${'}'.repeat(5e4)}}`,
    ],
    ['nests them beside the params', `{"definitionKey":${'['.repeat(1e5)}${']'.repeat(1e5)}}`],
    ['has 50,000 keys', `{"definitionKey":"a","params":{${keys(5e4)}}}`],
    ['has 50,000 unknown fields', `{"definitionKey":"a",${keys(5e4)}}`],
    ['has __proto__', '{"definitionKey":"a","params":{"__proto__":{"polluted":1}}}'],
    ['has __proto__ outside', '{"definitionKey":"a","__proto__":{"polluted":1}}'],
    ['has a constructor', '{"definitionKey":"a","constructor":{"prototype":{"polluted":1}}}'],
    ['is a number beyond all', '{"definitionKey":"a","params":1e400}'],
    ['is a batch of 100,000', `{"jobs":[${Array(1e5).fill('{}').join(',')}]}`, '/v1/jobs/batch'],
  ])('that %s is refused with 400', async (_, body, url = '/v1/jobs') => {
    const { status } = await post(body, url);
    expect(status).toBe(400);
  });

  it('that is larger than it may be is refused with 413', async () => {
    const { status } = await post(`{"definitionKey":"a","params":"${'x'.repeat(2e6)}"}`);
    expect(status).toBe(413);
  });

  it('comes back as it was, with duplicate keys as JSON.parse takes them', async () => {
    const made = await post('{"definitionKey":"a","params":{"a":1,"a":-0,"big":9007199254740992}}');
    const { text } = await callAs(app, key, 'GET', `/v1/jobs/${String(made.body['jobId'])}`);
    expect(text).toContain('"params":{"a":0,"big":9007199254740992}');
  });
});

describe('headers', () => {
  /** What comes back when these very bytes are sent to a real server. */
  const raw = async (lines: string[], body = '') => {
    const server = new HttpServer({
      ...database,
      log: silentLog,
      host: '127.0.0.1',
      port: 0,
      version: '0',
    });
    await server.start();
    onTestFinished(async () => await server.stop());
    const socket = connect(Number(new URL(server.address).port), '127.0.0.1');
    socket.end(
      `${['POST /v1/jobs HTTP/1.1', 'host: localhost', ...lines].join('\r\n')}\r\n\r\n${body}`,
    );
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    await once(socket, 'close');
    return answer;
  };
  const JSON_TYPE = 'content-type: application/json';

  it('that disagree about the length of the body are refused', async () => {
    const both = ['transfer-encoding: chunked', 'content-length: 4', JSON_TYPE];
    expect(await raw(both, '0\r\n\r\nGET /docs HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
    const twice = ['content-length: 4', 'content-length: 5', JSON_TYPE];
    expect(await raw(twice, 'abcde')).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('do not change the identity of a caller', async () => {
    const { key: reader, keyId } = await newKey(database, 'default', 'admin');
    const headers = {
      'x-forwarded-for': '203.0.113.66',
      'x-real-ip': '203.0.113.66',
      forwarded: 'for=203.0.113.66',
      'x-forwarded-host': 'evil.example',
      'x-tenant': 'acme',
    };
    const made = await callAs(app, reader, 'POST', '/v1/jobs', {
      payload: { definitionKey: 'a', hold: true },
      headers,
    });
    const jobId = String(made.body['jobId']);
    await callAs(app, reader, 'POST', `/v1/jobs/${jobId}/cancel`, { headers });
    const { body } = await callAs(app, reader, 'GET', `/v1/audit?actor=key:${keyId}`);
    expect(body['entries']).toMatchObject([{ subject: jobId, address: '127.0.0.1' }]);
    const job = await callAs(app, reader, 'GET', `/v1/jobs/${jobId}`);
    expect(job.body['tenant']).toBe('default');
  });

  it('and bodies that dawdle are not waited for', async () => {
    await app.ready();
    const { headersTimeout, requestTimeout, timeout } = app.server;
    expect({ headersTimeout, requestTimeout, timeout }).toEqual({
      headersTimeout: 15_000,
      requestTimeout: 600_000,
      timeout: 60_000,
    });
  });
});

it('every HTML page allows known scripts at most, and cannot be framed', async () => {
  for (const path of ['/docs', '/v1/jobs', '/nowhere']) {
    const { headers } = await callAs(app, key, 'GET', path);
    const policy = String(headers['content-security-policy']);
    expect(policy).toMatch(/default-src 'none'/);
    expect(policy).toMatch(/frame-ancestors 'none'/);
    expect(policy).not.toMatch(/unsafe/);
    const scripts = /script-src ([^;]*)/.exec(policy)?.[1]?.split(' ') ?? [];
    expect(scripts.filter((source) => !source.startsWith("'sha256-"))).toEqual([]);
    expect(headers['x-content-type-options']).toBe('nosniff');
  }
});

function keys(count: number): string {
  return Array.from({ length: count }, (_, n) => `"k${n}":1`).join(',');
}
