import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { until } from '../../test/support/until.ts';
import { Link } from './link.ts';

/** A server that collects what it hears and answers each piece; and a link in front of it. */
async function linkToEcho(speaks: 'postgres' | 'http' = 'http') {
  const heard: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    let greeted = speaks === 'http';
    socket.on('data', (chunk) => {
      heard.push(chunk.toString('latin1'));
      // The startup message is unlike all others, and no answer looks like it.
      if (greeted) socket.write(chunk);
      greeted = true;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const link = new Link('test', speaks, () => 0.5);
  await link.open();
  link.targetPort = (server.address() as AddressInfo).port;
  onTestFinished(async () => {
    await link.close();
    server.close();
  });
  return { link, heard };
}

async function dial(link: Link): Promise<{ socket: Socket; got: string[]; over: () => boolean }> {
  const socket = connect({ port: link.port, host: '127.0.0.1' });
  const got: string[] = [];
  let over = false;
  socket.on('error', () => undefined);
  socket.on('close', () => (over = true));
  socket.on('data', (chunk) => got.push(chunk.toString('latin1')));
  await once(socket, 'connect');
  return { socket, got, over: () => over };
}

it('passes on what it gets', async () => {
  const { link } = await linkToEcho();
  const { socket, got } = await dial(link);
  socket.write('hello');
  await until('the echo is here', () => got.join('') === 'hello');
});

it('delivers what was stalled, also of a client that has hung up meanwhile', async () => {
  const { link, heard } = await linkToEcho();
  const { socket, over } = await dial(link);
  socket.write('before');
  await until('it was heard', () => heard.join('') === 'before');
  link.setWeather({ kind: 'stall' });
  socket.write(' after');
  await until('it is on its way', () => socket.bytesWritten === 12);
  socket.destroy();
  await until('the client is gone', over);
  expect(heard.join('')).toBe('before');
  link.clear();
  await until('it was heard late', () => heard.join('') === 'before after');
});

it('swallows what goes into a black hole, and ends the connection afterwards', async () => {
  const { link, heard } = await linkToEcho();
  const { socket, over } = await dial(link);
  link.setWeather({ kind: 'blackhole' });
  socket.write('lost');
  const other = await dial(link);
  other.socket.write('lost as well');
  await until('both have lost something', () => link.damaged === 2);
  expect(over()).toBe(false);
  link.clear();
  const third = await dial(link);
  third.socket.write('found');
  await until('only the third is heard', () => heard.join('') === 'found');
  await until('the first is thrown out', over);
});

it('concerns only those it is meant for', async () => {
  const { link, heard } = await linkToEcho('postgres');
  link.setWeather({ kind: 'blackhole' }, (application) => application === 'longshore listen');
  const listener = await dial(link);
  listener.socket.write(startup('longshore listen'));
  const other = await dial(link);
  other.socket.write(startup('longshore'));
  await until('the other one is heard', () => heard.join('').includes('longshore\0'));
  await until('the first one is not', () => link.damaged === 1);
  expect(heard.join('')).not.toContain('longshore listen');
});

it('lets a statement through and cuts its answer off', async () => {
  const { link, heard } = await linkToEcho('postgres');
  const cuts: string[] = [];
  link.armCut({ statements: ['settle_and_claim'], onSprung: (statement) => cuts.push(statement) });
  const { socket, got, over } = await dial(link);
  socket.write(startup('longshore'));
  await until('it has introduced itself', () => heard.length === 1);
  socket.write(message('B', '\0claim\0'));
  await until('another statement is answered', () => got.join('').includes('claim'));
  socket.write(message('B', '\0settle_and_claim\0'));
  socket.write(message('Z', 'I'));
  await until('the connection is cut', over);
  expect(cuts).toEqual(['settle_and_claim']);
  expect(heard.join('')).toContain('settle_and_claim');
  expect(got.join('')).not.toContain('settle_and_claim');
});

it('holds everything up from a certain statement on', async () => {
  const { link, heard } = await linkToEcho('postgres');
  const held: string[] = [];
  link.armStall({ statements: ['settle'], onSprung: (statement) => held.push(statement) });
  const { socket } = await dial(link);
  socket.write(startup('longshore'));
  socket.write(message('B', '\0claim\0'));
  await until('another statement is heard', () => heard.join('').includes('claim'));
  socket.write(message('B', '\0settle\0'));
  await until('it is held up', () => held.length === 1);
  expect(heard.join('')).not.toContain('settle');
  link.clear();
  await until('it arrives late', () => heard.join('').includes('settle'));
});

function startup(application: string): Buffer {
  const body = Buffer.from(`\0\x03\0\0user\0me\0application_name\0${application}\0\0`, 'latin1');
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([length, body]);
}

function message(type: string, body: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(Buffer.byteLength(body, 'latin1') + 4);
  return Buffer.concat([Buffer.from(type), length, Buffer.from(body, 'latin1')]);
}
