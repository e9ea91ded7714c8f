import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../runtime/clock.ts';
import { guardedDialer } from './dialer.ts';
import { Networks } from './networks.ts';
import { RESPONSE_MAX_BYTES, send } from './send.ts';

/** Receivers that mean us harm. Each says what it likes, byte by byte, on a socket of its own. */

async function posted(answer: (socket: Socket) => void, timeoutMs = 5_000) {
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const dialer = guardedDialer(new Networks(['127.0.0.0/8']));
  onTestFinished(async () => await dialer.destroy());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const options = { dialer, clock: systemClock, timeoutMs };
  return await send({ url, headers: {}, body: '{}' }, options, new AbortController().signal);
}

const HEAD = 'HTTP/1.1 200 OK\r\n';

/** Writes a little repeatedly until the client closes. */
function drip(socket: Socket, text: string): void {
  const timer = setInterval(() => socket.write(text), 20);
  socket.on('close', () => clearInterval(timer));
}

test('one that never comes to the end of its headers is given up', async () => {
  const { send: sent } = await posted((socket) => {
    socket.write(HEAD);
    drip(socket, 'x-more: 1\r\n');
  }, 300);
  expect(sent).toMatchObject({ status: null, error: 'no answer within 0.3 s' });
});

test('one that never comes to the end of its body has answered, and is given up', async () => {
  const { send: sent } = await posted((socket) => {
    socket.write(`${HEAD}content-length: 1000000\r\n\r\nthanks`);
    drip(socket, ' ');
  }, 300);
  expect(sent).toMatchObject({ status: 200, responseTruncated: true });
  expect(sent.responseBody).toMatch(/^thanks/);
});

test('one that floods us with headers is cut off', async () => {
  const { send: sent } = await posted((socket) => {
    socket.write(HEAD + 'x-flood: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n'.repeat(20_000));
  });
  expect(sent).toMatchObject({ status: null, error: 'no answer (UND_ERR_HEADERS_OVERFLOW)' });
});

test('a bomb is not unpacked', async () => {
  const bomb = gzipSync(Buffer.alloc(20_000_000));
  const { send: sent } = await posted((socket) => {
    const length = `content-length: ${bomb.length}`;
    socket.write(`${HEAD}content-encoding: gzip\r\n${length}\r\n\r\n`);
    socket.end(bomb);
  });
  expect(sent).toMatchObject({ status: 200, responseTruncated: true });
  expect(sent.responseBody?.length).toBeLessThanOrEqual(RESPONSE_MAX_BYTES);
});

test('what is no HTTP is no answer', async () => {
  const { send: sent } = await posted((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'));
  expect(sent).toMatchObject({ status: null, error: 'no answer (HTTPParserError)' });
});
