import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { Longshore, type ProblemError } from '../../../src/client/index.ts';
import { defineJob } from '../../../src/core/definition/define.ts';
import { Enqueuer } from '../../../src/enqueue/enqueuer.ts';
import { Quotas } from '../../../src/enqueue/quotas.ts';
import type { HttpDeps } from '../../../src/http/deps.ts';
import { HttpServer } from '../../../src/http/server.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { countQueued } from '../../../src/store/enqueue/quota-counts.ts';
import { publishDefinitions } from '../../../src/store/enqueue/definitions.ts';
import { sharedDatabase } from '../../support/servers/database.ts';

/** Concurrent enqueues of the SDK share requests; each caller gets what it would get alone. */
const database = sharedDatabase({ shards: 2 });
let address: string;

async function serve(more: Partial<HttpDeps> = {}): Promise<HttpServer> {
  const { db, enqueuer } = database;
  const deps = { db, enqueuer, log: silentLog, host: '127.0.0.1', port: 0, version: '0' };
  const server = new HttpServer({ ...deps, ...more });
  await server.start();
  return server;
}

let server: HttpServer;
beforeAll(async () => {
  const { info } = defineJob({ key: 'typed', run: () => null });
  const paramsSchema = { type: 'object', properties: { n: { type: 'integer' } } };
  await publishDefinitions(database.db, [{ ...info, paramsSchema }]);
  server = await serve();
  ({ address } = server);
});
afterAll(async () => await server.stop());

const storedWith = async (tag: string) => {
  const find = "select id, params->>'n' as n from longshore.job where params->>'tag' = $1";
  return await database.sql<{ id: string; n: string }>(find, [tag]);
};
const factsOf = (error: unknown) => {
  const { name, message, status, code, errors } = error as ProblemError;
  return { name, message, status, code, errors };
};
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

it('gives each caller its own job, whatever the jobs are', async () => {
  const client = new Longshore({ url: address });
  const options = [{}, { delayMs: 60_000 }, { tags: ['red'] }, { hold: true }];
  const handles = await Promise.all(
    numbers(40).map(
      async (n) => await client.enqueue(`kind-${n % 7}`, { n, tag: 'own' }, options[n % 4]),
    ),
  );
  const stored = new Map((await storedWith('own')).map(({ id, n }) => [id, Number(n)]));
  expect(handles.map(({ id }) => stored.get(id))).toEqual(numbers(40));
  const states = ['queued', 'scheduled', 'queued', 'created'];
  expect(handles.map(({ status }) => status)).toEqual(numbers(40).map((n) => states[n % 4]));
  expect(handles.map(({ warnings }) => warnings.map(({ code }) => code))).toEqual(
    numbers(40).map(() => ['UNREGISTERED']),
  );
});

it('gives the error of a bad job to its caller only, as if it were sent alone', async () => {
  const client = new Longshore({ url: address });
  const bad = [
    async () => await client.enqueue('typed', { n: 'one', tag: 'bad' }),
    async () => await client.enqueue('typed', { n: 1, tag: 'bad' }, { priority: 1.5 }),
    async () => await client.enqueue('no key!', { n: 1, tag: 'bad' }),
    async () => await client.enqueue('typed', { tag: 'bad' }, { expiresAt: '2020-01-01T00:00Z' }),
  ];
  const calls = numbers(20).map(
    async (n) =>
      await (bad[n - 8] ?? (async () => await client.enqueue('typed', { n, tag: 'good' })))(),
  );
  const settled = await Promise.allSettled(calls);
  expect((await storedWith('good')).map(({ n }) => Number(n)).sort((a, b) => a - b)).toEqual(
    numbers(20).filter((n) => !bad[n - 8]),
  );
  const refusals = settled.flatMap((one) =>
    one.status === 'rejected' ? [one.reason as Error] : [],
  );
  expect(refusals).toHaveLength(4);
  for (const [index, call] of bad.entries()) {
    const alone = await call().catch((error: unknown) => error);
    expect(factsOf(refusals[index])).toEqual(factsOf(alone));
  }
  expect(await storedWith('bad')).toEqual([]);
});

it('stores no job twice when an answer is lost', async () => {
  const cut = await cuttingProxy(address, 2);
  const client = new Longshore({ url: cut.url });
  const handles = await Promise.all(
    numbers(30).map(async (n) => {
      const options = n % 3 === 0 ? { tags: ['lost'] } : {};
      return await client.enqueue(`lost-${n % 5}`, { n, tag: 'lost' }, options);
    }),
  );
  expect(cut.count()).toBe(2);
  const stored = new Map((await storedWith('lost')).map(({ id, n }) => [id, Number(n)]));
  expect(stored.size).toBe(30);
  expect(handles.map(({ id }) => stored.get(id))).toEqual(numbers(30));
});

it('fills a quota that has room for some of the jobs', async () => {
  const { db, waker } = database;
  const count = await countQueued(db, 'default', 10_000);
  const quotas = new Quotas(db, systemClock, {
    tenantQueuedMax: count + 3,
    tenantQueuedBytesMax: 0,
    tenantSchedulesMax: 0,
    tenantWebhooksMax: 0,
  });
  const limited = await serve({ enqueuer: new Enqueuer(db, waker, systemClock, quotas), quotas });
  onTestFinished(async () => await limited.stop());
  const client = new Longshore({ url: limited.address, retries: 0 });
  const settled = await Promise.allSettled(
    numbers(5).map(async (n) => await client.enqueue('typed', { n, tag: 'quota' })),
  );
  const codes = settled.map((one) =>
    one.status === 'fulfilled' ? 'stored' : (one.reason as { code: string }).code,
  );
  expect(codes.sort()).toEqual([...Array(2).fill('QUOTA_EXCEEDED'), ...Array(3).fill('stored')]);
  expect(await storedWith('quota')).toHaveLength(3);
});

/** Forwards to the server, and closes the connection instead of the first answers. */
async function cuttingProxy(target: string, cuts: number) {
  let made = 0;
  const sockets = new Set<Socket>();
  const proxy = createServer((incoming) => {
    const onward = connect(Number(new URL(target).port), '127.0.0.1');
    for (const socket of [incoming, onward]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    incoming.pipe(onward);
    incoming.on('close', () => onward.destroy());
    onward.on('data', (bytes) => {
      if (made >= cuts) incoming.write(bytes);
      else {
        made += 1;
        incoming.destroy();
      }
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  const { port } = proxy.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, count: () => made };
}
