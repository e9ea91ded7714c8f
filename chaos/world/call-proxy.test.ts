import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { until } from '../../test/support/until.ts';
import { CallProxy, type Fate } from './call-proxy.ts';

const ANSWER = JSON.stringify({ jobs: 'x'.repeat(1_000) });
let proxy: CallProxy;
/** The names of the APIs, as they were called. */
let carriedOut: string[];
/** Holds all answers back. */
let answering: Promise<void>;

beforeEach(async () => {
  carriedOut = [];
  answering = Promise.resolve();
  proxy = new CallProxy();
  await proxy.open();
  onTestFinished(() => proxy.close());
  for (const name of ['api-1', 'api-2']) {
    const api = createServer((call, answer) => {
      call.resume().on('end', () => {
        carriedOut.push(name);
        void answering.then(() => answer.end(ANSWER));
      });
    });
    await new Promise<void>((done) => api.listen(0, '127.0.0.1', done));
    onTestFinished(() => api.close().closeAllConnections());
    proxy.targets.set(name, (api.address() as AddressInfo).port);
  }
});

async function call(name = 'turn'): Promise<string> {
  const url = `http://127.0.0.1:${proxy.port}/v1/workers/1/${name}`;
  return await (await fetch(url, { method: 'POST', body: '{}' })).text();
}

function spoil(fate: Fate): void {
  proxy.spoilt = { call: 'turn', next: () => fate };
}

it('gives calls to the APIs in turn, and leaves calls of other kinds alone', async () => {
  spoil('lose-request');
  expect([await call('beat'), await call('say')]).toEqual([ANSWER, ANSWER]);
  expect(carriedOut.toSorted()).toEqual(['api-1', 'api-2']);
  expect(proxy.mistreated).toBe(0);
});

it('gives the call to another API when one is gone', async () => {
  proxy.targets.set('api-1', 1);
  expect([await call(), await call()]).toEqual([ANSWER, ANSWER]);
  expect(carriedOut).toEqual(['api-2', 'api-2']);
});

it.each<[Fate, number]>([
  ['lose-request', 0],
  ['lose-answer', 1],
  ['half-answer', 1],
])('%s: the worker gets no whole answer', async (fate, times) => {
  spoil(fate);
  await expect(call()).rejects.toThrow();
  expect(carriedOut).toHaveLength(times);
  expect(proxy.mistreated).toBe(1);
});

it('twice: both APIs get the call', async () => {
  spoil('twice');
  expect(await call()).toBe(ANSWER);
  await until('both have it', () => carriedOut.length === 2);
  expect(carriedOut.toSorted()).toEqual(['api-1', 'api-2']);
});

it('late: the connection breaks, and the call arrives all the same', async () => {
  spoil({ lateMs: 200 });
  await expect(call()).rejects.toThrow();
  await until('it arrives', () => carriedOut.length === 1);
});

it('delay: the call arrives later; slow: its answer does', async () => {
  spoil({ delayMs: 100 });
  const delayed = call();
  await until('it is held up', () => proxy.delayed === 1);
  expect(await delayed).toBe(ANSWER);
  spoil({ answerAfterMs: 100 });
  const slow = call();
  await until('it is carried out', () => carriedOut.length === 2);
  expect(proxy.delayed).toBe(1);
  expect(await slow).toBe(ANSWER);
  expect(proxy.delayed).toBe(0);
});

it('knows which API has not answered yet', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  answering = promise;
  const open = call();
  await until('it is carried out', () => carriedOut.length === 1);
  expect(proxy.openAt(carriedOut[0] ?? '')).toBe(1);
  resolve();
  await open;
  expect(proxy.openAt('api-1') + proxy.openAt('api-2')).toBe(0);
});
