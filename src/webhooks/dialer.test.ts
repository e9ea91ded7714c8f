import type { LookupFunction } from 'node:net';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../runtime/clock.ts';
import { guardedDialer } from './dialer.ts';
import { Networks } from './networks.ts';
import { send } from './send.ts';
import { UrlGuard } from './url-guard.ts';

/** A server that only counts who comes, and answers all of them well. */
let connections = 0;
let port = 0;
const server = createServer((socket) => {
  connections += 1;
  socket.on('error', () => undefined);
  socket.end('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n');
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => void server.close());

/** A name server that answers differently each time. */
function answering(...answers: string[][]): LookupFunction {
  let asked = 0;
  return (_hostname, options, callback) => {
    const found = answers[Math.min(asked, answers.length - 1)] ?? [];
    asked += 1;
    const all = found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    if (options.all) callback(null, all);
    else callback(null, all[0]?.address ?? '', all[0]?.family);
  };
}

async function post(url: string, networks: Networks, lookup?: LookupFunction) {
  const dialer = guardedDialer(networks, lookup);
  const signal = new AbortController().signal;
  const sending = { url, headers: {}, body: '{}' };
  const { send: sent } = await send(
    sending,
    { dialer, clock: systemClock, timeoutMs: 5_000 },
    signal,
  );
  await dialer.close();
  return sent;
}

const REFUSED = 'the address is not allowed for webhooks';
const loopback = new Networks(['127.0.0.0/8']);

test('dials what is allowed', async () => {
  const before = connections;
  expect(await post(`http://127.0.0.1:${port}/`, loopback)).toMatchObject({ status: 204 });
  const named = await post(`http://hooks.test:${port}/`, loopback, answering(['127.0.0.1']));
  expect(named).toMatchObject({ status: 204 });
  expect(connections).toBe(before + 2);
});

test.each([
  ['a number', () => `http://127.0.0.1:${port}/`, undefined],
  ['a number in disguise', () => `http://0x7f.1:${port}/`, undefined],
  ['a mapped number', () => `http://[::ffff:127.0.0.1]:${port}/`, undefined],
  ['the name of this machine', () => `http://localhost:${port}/`, undefined],
  ['a name', () => `http://hooks.test:${port}/`, answering(['127.0.0.1'])],
  ['a name with TLS', () => `https://hooks.test:${port}/`, answering(['127.0.0.1'])],
  ['one of several', () => `http://hooks.test:${port}/`, answering(['1.1.1.1', '127.0.0.1'])],
  ['no address at all', () => `http://hooks.test:${port}/`, answering([])],
] as const)('never connects to what is not: %s', async (_, url, lookup) => {
  const before = connections;
  expect(await post(url(), new Networks(), lookup)).toMatchObject({ status: null, error: REFUSED });
  expect(connections).toBe(before);
});

test('a name that changes its answer after it was judged is judged again, and by what is dialled', async () => {
  const before = connections;
  const rebinding = answering(['1.1.1.1'], ['127.0.0.1']);
  const url = `http://rebind.test:${port}/`;
  expect(await new UrlGuard(new Networks(), rebinding).problemOf(url)).toBeNull();
  expect(await post(url, new Networks(), rebinding)).toMatchObject({ error: REFUSED });
  expect(connections).toBe(before);
});

test('each send looks the name up again', async () => {
  const before = connections;
  const turning = answering(['127.0.0.1'], ['10.0.0.1']);
  const dialer = guardedDialer(loopback, turning);
  const options = { dialer, clock: systemClock, timeoutMs: 5_000 };
  const sending = { url: `http://hooks.test:${port}/`, headers: {}, body: '{}' };
  const { signal } = new AbortController();
  expect((await send(sending, options, signal)).send.status).toBe(204);
  expect((await send(sending, options, signal)).send.error).toBe(REFUSED);
  expect(connections).toBe(before + 1);
  await dialer.close();
});

test('a URL is judged when it is written down, as far as that can be', async () => {
  const failing: LookupFunction = (_hostname, _options, callback) => {
    callback(Object.assign(new Error('nothing'), { code: 'ENOTFOUND' }), '');
  };
  const judge = async (url: string, lookup: LookupFunction) =>
    await new UrlGuard(new Networks(), lookup).problemOf(url);
  expect(await judge('https://hooks.test/', answering(['1.1.1.1']))).toBeNull();
  expect(await judge('https://not-yet.test/', failing)).toBeNull();
  expect(await judge('https://hooks.test/', answering(['10.0.0.1']))).toBe(REFUSED);
  expect(await judge('https://hooks.test/', answering(['1.1.1.1', '::1']))).toBe(REFUSED);
  expect(await judge('http://2130706433/', failing)).toBe(REFUSED);
  expect(await judge('ftp://hooks.test/', failing)).toMatch('must begin with https');
});

test('names that are never answered use up a bounded number of look-ups', async () => {
  const asked: (() => void)[] = [];
  const hanging: LookupFunction = (_hostname, _options, callback) => {
    asked.push(() => callback(null, [{ address: '10.0.0.1', family: 4 }]));
  };
  const guard = new UrlGuard(new Networks(), hanging);
  const judge = async (n: number) => await guard.problemOf(`https://h${n}.hooks.test/`);
  const first = Array.from({ length: 32 }, async (_, n) => await judge(n));
  expect(await judge(33)).toBeNull();
  expect(asked).toHaveLength(32);
  for (const answer of asked.splice(0)) answer();
  expect(new Set(await Promise.all(first))).toEqual(new Set([REFUSED]));
  const next = judge(34);
  for (const answer of asked) answer();
  expect(await next).toBe(REFUSED);
});
