import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { lazyReader } from '../../../test/support/servers/live-stream.ts';
import { EventStream, message, wantsStream } from './event-stream.ts';

/** A stream to a reader that takes nothing, over a real connection. */
async function openStream() {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const socket = lazyReader(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const [, raw] = (await once(server, 'request')) as Parameters<
    NonNullable<Parameters<typeof createServer>[1]>
  >;
  const stream = new EventStream(raw);
  stream.begin({ 'x-own': '1' }, 60_000);
  return { stream, socket, raw };
}

const TOO_LARGE = `data: ${'x'.repeat(16 * 1024 * 1024)}\n\n`;

describe('writing', () => {
  it('waits for the reader', async () => {
    const { stream, socket } = await openStream();
    let hasRoom = false;
    const writing = stream.write(TOO_LARGE).then(() => (hasRoom = true));
    await new Promise(setImmediate);
    expect(hasRoom).toBe(false);
    socket.resume();
    expect(await writing).toBe(true);
  });

  it('waits no longer when the reader is gone, and then writes nothing', async () => {
    const { stream, socket } = await openStream();
    const writing = stream.write(TOO_LARGE);
    socket.destroy();
    await writing;
    expect(stream.signal.aborted).toBe(true);
    await stream.write('data: more\n\n');
  });

  it('waits no longer when the stream is stopped', async () => {
    const { stream, raw } = await openStream();
    const writing = stream.write(TOO_LARGE);
    stream.stop();
    await writing;
    expect(raw.destroyed).toBe(true);
  });
});

it('a stream that is finished says so, even to a reader that is behind', async () => {
  const { stream, socket } = await openStream();
  const writing = stream.write(TOO_LARGE);
  socket.resume();
  await writing;
  stream.finish();
  let tail = '';
  for await (const chunk of socket) tail = (tail + String(chunk)).slice(-100);
  expect(tail).toContain('event: end\ndata: {}\n\n');
});

describe('the format', () => {
  it('is one line of data, whatever is in it', () => {
    expect(message('5', 'log', { text: 'a\nb\r\u2028"' })).toBe(
      'id: 5\nevent: log\ndata: {"text":"a\\nb\\r\u2028\\""}\n\n',
    );
  });

  it.each([
    ['text/event-stream', true],
    ['Text/Event-Stream; charset=utf-8', true],
    ['application/json, text/event-stream;q=0.5', true],
    ['text/event-stream;q=0', false],
    ['text/event-stream; q=0.00', false],
    ['application/json', false],
    ['text/*', false],
    ['*/*', false],
    ['', false],
    [undefined, false],
  ])('%s asks for it: %s', (accept, expected) => {
    expect(wantsStream(accept)).toBe(expected);
  });
});
