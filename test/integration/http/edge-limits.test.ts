import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openStorage } from '../../../src/artifacts/open-storage.ts';
import { formatApiKey } from '../../../src/core/access/api-key.ts';
import { Uploads } from '../../../src/deployments/uploads.ts';
import type { HttpDeps } from '../../../src/http/deps.ts';
import { HttpServer } from '../../../src/http/server.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { statement } from '../../../src/store/connection/db.ts';
import { SESSIONS_MAX } from '../../../src/store/access/sessions.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { newKey, newTenant } from '../../support/server-edge.ts';
import { listen } from '../../support/servers/live-stream.ts';
import { until } from '../../support/until.ts';

/** What callers can do to each other at the door: docs/operate/security.md names the attacks. */
const database = sharedDatabase();
let key: string;

beforeAll(async () => {
  await newTenant(database, 'acme');
  ({ key } = await newKey(database, 'default', 'admin'));
});

const serve = async (more: Partial<HttpDeps> = {}): Promise<HttpServer> => {
  const bare = { log: silentLog, host: '127.0.0.1', port: 0, version: '0' };
  const server = new HttpServer({ ...database, ...bare, ...more });
  await server.start();
  onTestFinished(async () => await server.stop());
  return server;
};

const bearer = (one: string) => ({ authorization: `Bearer ${one}` });

const logIn = async ({ address }: HttpServer, one: string, headers = {}) =>
  await fetch(`${address}/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ key: one }),
  });

const cookieOf = (answer: Response) => answer.headers.get('set-cookie')?.split(';')[0] ?? '';

const wrongKey = (n: number) =>
  formatApiKey({ id: String(n).padStart(16, '0'), secret: '0'.repeat(64) });

let guesses = 0;

/** An unknown key, different each time. */
const guess = async ({ address }: HttpServer, headers = {}) => {
  guesses += 1;
  const sent = { ...bearer(wrongKey(guesses)), ...headers };
  return (await fetch(`${address}/v1/jobs`, { headers: sent })).status;
};

/** Until no further one is looked up. */
const guessTooOften = async (server: HttpServer, headers = {}) =>
  await until('there were too many', async () => {
    const some = Array.from({ length: 50 }, async () => await guess(server, headers));
    return (await Promise.all(some)).includes(429);
  });

const socketTo = async ({ address }: HttpServer): Promise<Socket> => {
  const socket = connect(Number(new URL(address).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  return socket;
};

describe('wrong keys from an address', () => {
  it('do not keep good keys and new sessions from the same address out', async () => {
    const server = await serve();
    await guessTooOften(server);
    for (let n = 0; n < 5; n += 1) {
      const { key: good } = await newKey(database, 'acme', 'jobs:read');
      const session = await until('it is in', async () => {
        await guessTooOften(server);
        const answer = await logIn(server, good);
        return answer.status === 201 ? answer : null;
      });
      const headers = { cookie: cookieOf(session) };
      expect((await fetch(`${server.address}/v1/jobs`, { headers })).status).toBe(200);
    }
  });

  it('nor do wrong secrets of a key whose id is known', async () => {
    const server = await serve();
    await guessTooOften(server);
    const { key: good, keyId } = await newKey(database, 'acme', 'jobs:read');
    const forge = async (n: number) => {
      const forged = formatApiKey({ id: keyId, secret: String(n).padStart(64, '0') });
      return (await fetch(`${server.address}/v1/jobs`, { headers: bearer(forged) })).status;
    };
    const forged = await Promise.all(Array.from({ length: 300 }, async (_, n) => await forge(n)));
    expect(forged).toContain(429);
    await until('it is in', async () => {
      const headers = bearer(good);
      return (await fetch(`${server.address}/v1/jobs`, { headers })).status === 200;
    });
    expect(await forge(1)).not.toBe(200);
  });

  it('are counted by client behind a trusted proxy, and by no header of other clients', async () => {
    const trusting = await serve({ trustedProxies: ['127.0.0.0/8', '10.0.0.0/8'] });
    const by = (address: string) => ({ 'x-forwarded-for': address });
    await guessTooOften(trusting, by('1.1.1.1, 203.0.113.9, 10.1.1.1'));
    expect(await guess(trusting, by('203.0.113.10'))).toBe(401);
    expect(await guess(trusting, by('203.0.113.9, 203.0.113.10'))).toBe(401);
    const plain = await serve();
    let client = 0;
    await until('all of them are one address', async () => {
      const some = Array.from({ length: 50 }, async () => {
        client += 1;
        return await guess(plain, by(`203.0.${client >> 8}.${client & 255}`));
      });
      return (await Promise.all(some)).includes(429);
    });
  });
});

describe('sessions', () => {
  it('of one key are limited in rate and in number', async () => {
    const server = await serve();
    const { key: worker, keyId } = await newKey(database, 'default', 'worker');
    const statuses: number[] = [];
    for (let n = 0; n < 40; n += 1) statuses.push((await logIn(server, worker)).status);
    expect(new Set(statuses)).toEqual(new Set([201, 429]));
    await database.sql(
      `insert into longshore.session (id_hash, tenant, key_id, expires_at, seen_at)
       select sha256(n::text::bytea), 'default', $1, now() + interval '1 h', now() - interval '1 min'
       from generate_series(1, 300) n`,
      [keyId],
    );
    const other = await serve();
    expect((await logIn(other, worker)).status).toBe(201);
    const [row] = await database.sql<{ n: number }>(
      'select count(*)::int as n from longshore.session where key_id = $1',
      [keyId],
    );
    expect(row?.n).toBe(SESSIONS_MAX);
  });

  it('are not shadowed by a second cookie of the same name', async () => {
    const server = await serve();
    const real = cookieOf(await logIn(server, key));
    const who = async (cookie: string) =>
      (await fetch(`${server.address}/v1/session`, { headers: { cookie } })).status;
    const made = `longshore_session=${'0'.repeat(64)}`;
    expect(await who(`${made}; ${real}`)).toBe(200);
    expect(await who(`${real}; ${made}`)).toBe(200);
    expect(await who(made)).toBe(401);
    const planted = cookieOf(await logIn(server, key));
    expect(await who(`${planted}; ${real}`)).toBe(401);
    const port = new URL(server.address).port;
    const origin = { origin: `https://127.0.0.1:${port}` };
    const own = cookieOf(await logIn(server, key, origin));
    expect(own).toMatch(/^__Host-longshore_session=/);
    expect(await who(`${planted}; ${real}; ${made}; ${own}`)).toBe(200);
  });
});

describe('live streams', () => {
  it('of one key, and of one tenant, leave room for others', async () => {
    const server = await serve({ streams: { streamsMax: 8, pollMs: 20 } });
    const open = async (one: string) => {
      const headers = { ...bearer(one), accept: 'text/event-stream' };
      return (await listen(`${server.address}/v1/stream`, headers)).response.status;
    };
    const [first, second, third, other] = [
      (await newKey(database, 'acme', 'jobs:read')).key,
      (await newKey(database, 'acme', 'jobs:read')).key,
      (await newKey(database, 'acme', 'jobs:read')).key,
      key,
    ];
    const opened: number[] = [];
    for (const one of [first, first, first, second, second, third, other]) {
      opened.push(await open(one));
    }
    expect(opened).toEqual([200, 200, 429, 200, 200, 429, 200]);
  });
});

describe('searches by text', () => {
  it.each(['/v1/jobs?q=abc', '/v1/dead-letters?q=abc', '/v1/dead-letters/groups?q=abc'])(
    'wait for their turn: %s',
    async (path) => {
      const server = await serve();
      const { key: reader } = await newKey(database, 'acme', 'jobs:read');
      const search = async () =>
        (await fetch(server.address + path, { headers: bearer(reader) })).status;
      const all = await database.db.transaction(async (tx) => {
        await tx.run(HOLD);
        const searches = Array.from({ length: 60 }, search);
        expect(await Promise.race(searches)).toBe(503);
        return searches;
      });
      expect(new Set(await Promise.all(all))).toEqual(new Set([200, 503]));
    },
  );
});

const HOLD = statement(
  'hold_jobs',
  'lock table longshore.queue, longshore.job, longshore.done in access exclusive mode',
);

describe('large bodies', () => {
  it('of one tenant leave room for those of another, and free it when they are over', async () => {
    const server = await serve({ bodyRoomBytes: 4_000_000 });
    const { key: greedy } = await newKey(database, 'acme', 'jobs:write');
    const upload = async (one: string, bytes: number) => {
      const socket = await socketTo(server);
      const lines = [
        'POST /v1/jobs/batch HTTP/1.1',
        'host: localhost',
        `authorization: Bearer ${one}`,
        'content-type: application/json',
        `content-length: ${bytes}`,
      ];
      socket.write(`${lines.join('\r\n')}\r\n\r\n{"jobs":`);
      return socket;
    };
    const slow = await upload(greedy, 1_900_000);
    const post = async (one: string, bytes: number) => {
      const body = JSON.stringify({ jobs: [{ definitionKey: 'x', padding: ' '.repeat(bytes) }] });
      const headers = { ...bearer(one), 'content-type': 'application/json' };
      const sent = { method: 'POST', headers, body };
      return (await fetch(`${server.address}/v1/jobs/batch`, sent)).status;
    };
    await until('the tenant has its share', async () => (await post(greedy, 200_000)) === 429);
    expect(await post(greedy, 1_000)).toBe(400);
    expect(await post(key, 200_000)).toBe(400);
    slow.destroy();
    await until('there is room again', async () => (await post(greedy, 200_000)) === 400);
  });
});

describe('a connection', () => {
  it('on which half a header has arrived is cut when the time for headers is over', async () => {
    const server = await serve({ headersTimeoutMs: 200 });
    const socket = await socketTo(server);
    socket.write('GET /livez HTTP/1.1\r\nhost: local');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 /);
  });

  /** Sends half of a body. */
  const sendHalf = async (server: HttpServer, path: string, one: string) => {
    const socket = await socketTo(server);
    const lines = [`POST ${path} HTTP/1.1`, 'host: localhost', `authorization: Bearer ${one}`];
    const body = ['content-type: application/json', 'content-length: 8', '', 'half'];
    socket.write([...lines, ...body].join('\r\n'));
    return socket;
  };

  it('on which half a body has arrived is cut when the time for bodies is over', async () => {
    const server = await serve({ bodyTimeoutMs: 200 });
    expect(await text(await sendHalf(server, '/v1/jobs', key))).toMatch(/^HTTP\/1\.1 408 /);
    // Those that were refused at once are cut as well.
    for (const [path, one] of [
      ['/nothing', key],
      ['/v1/artifacts', wrongKey(1)],
    ] as const) {
      expect(await text(await sendHalf(server, path, one))).toMatch(/^HTTP\/1\.1 40[14] /);
    }
  });

  it('has more time for an upload of code', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'longshore-upload-test-'));
    onTestFinished(async () => await rm(folder, { recursive: true }));
    const uploads = new Uploads(database.db, await openStorage(folder));
    const server = await serve({ bodyTimeoutMs: 200, uploads });
    const upload = await sendHalf(server, '/v1/artifacts', key);
    const other = await sendHalf(server, '/v1/jobs', key);
    expect(await text(other)).toMatch(/^HTTP\/1\.1 408 /);
    upload.write('more');
    const [answer] = (await once(upload, 'data')) as [Buffer];
    expect(answer.toString()).toContain('NOT_AN_ARCHIVE');
  });

  it('that is idle makes room when there are many', async () => {
    const server = await serve({ connectionsMax: 8 });
    const idle: Socket[] = [];
    for (let n = 0; n < 6; n += 1) {
      const socket = await socketTo(server);
      socket.write('GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n');
      await once(socket, 'data');
      idle.push(socket);
    }
    for (let n = 0; n < 10; n += 1) {
      const socket = await socketTo(server);
      socket.write('GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n');
      const [answer] = (await once(socket, 'data')) as [Buffer];
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /);
    }
  });
});

describe('a request', () => {
  it.each(['host: localhost', 'authorization: Bearer x', 'cookie: a=b', 'origin: http://a'])(
    'with two headers "%s" is refused',
    async (line) => {
      const server = await serve();
      const socket = await socketTo(server);
      const lines = ['GET /livez HTTP/1.1', 'host: localhost', 'connection: close', line, line];
      socket.write(`${lines.join('\r\n')}\r\n\r\n`);
      const answer = await text(socket);
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toContain('BAD_REQUEST');
    },
  );

  it('for data is answered with no-store, whatever the dialect', async () => {
    const server = await serve();
    const storing: string[] = [];
    for (const path of ['/v1/jobs', '/jobs/x', '/api/jobs/x', '/readyz', '/nothing']) {
      const { headers } = await fetch(server.address + path, { headers: bearer(key) });
      if (headers.get('cache-control') !== 'no-store') storing.push(path);
    }
    expect(storing).toEqual([]);
  });
});

describe('public pages', () => {
  it.each(['/openapi.json', '/docs/api', '/docs/api/scalar.js'])(
    '%s is made once, and sent once',
    async (path) => {
      const server = await serve();
      const url = server.address + path;
      const first = await fetch(url);
      const etag = first.headers.get('etag') ?? '';
      expect([first.status, etag.length > 10]).toEqual([200, true]);
      await first.text();
      const again = await fetch(url, { headers: { 'if-none-match': etag } });
      expect([again.status, await again.text()]).toEqual([304, '']);
    },
  );

  it('and probes ask the database once, however many come', async () => {
    let pings = 0;
    const db = new Proxy(database.db, {
      get: (target, name) => {
        if (name === 'ping') pings += 1;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
    const server = await serve({ db });
    const probes = Array.from({ length: 50 }, async () => await fetch(`${server.address}/readyz`));
    for (const { status } of await Promise.all(probes)) expect(status).toBe(200);
    expect(pings).toBeLessThan(10);
  });
});
