import { createSocket, type Socket } from 'node:dgram';
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { hostsOf, namesLookup, type NamesOptions, searched } from './names.ts';

/** A name server that knows good.test (and good.cluster.test), and never answers about hanging ones. */
const server: Socket = createSocket('udp4');
const waiting: string[] = [];
let servers: string[] = [];

beforeAll(async () => {
  server.on('message', (question, { port, address }) => {
    const { name, type, end } = asked(question);
    if (name.includes('hang')) return void waiting.push(name);
    const known = ['good.test', 'good.cluster.test'].includes(name);
    const records = known && type === 1 ? 1 : 0;
    const head = Buffer.from(question.subarray(0, 12));
    head.writeUInt16BE(known ? 0x8180 : 0x8183, 2);
    head.writeUInt16BE(records, 6);
    head.writeUInt32BE(0, 8);
    const record = Buffer.from('c00c00010001000000000004cb007109', 'hex');
    const parts = [head, question.subarray(12, end), ...(records ? [record] : [])];
    server.send(Buffer.concat(parts), port, address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  servers = [`127.0.0.1:${server.address().port}`];
});
afterAll(() => void server.close());

function asked(question: Buffer) {
  const labels: string[] = [];
  let at = 12;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), type: question.readUInt16BE(at + 1), end: at + 5 };
}

const none = { hostsFile: '/nonexistent', resolverFile: '/nonexistent' };

const lookUp = async (name: string, options: NamesOptions = {}) =>
  await new Promise<string>((resolve) => {
    namesLookup({ servers, ...none, ...options })(name, { all: true }, (error, found) => {
      const addresses = (found as LookupAddress[] | '') || [];
      resolve(error ? String(error.code) : addresses.map(({ address }) => address).join());
    });
  });

describe('a name', () => {
  it('is looked up, while names hang whose servers never answer', async () => {
    const ended: string[] = [];
    const hanging = Array.from({ length: 25 }, async (_, n) => {
      ended.push(await lookUp(`hang-${n}.test`, { timeoutMs: 2_000 }));
    });
    for (let n = 0; n < 10; n += 1) expect(await lookUp('good.test')).toBe('203.0.113.9');
    await Promise.all(hanging);
    expect(new Set(ended)).toEqual(new Set(['ETIMEOUT']));
    expect(waiting.length).toBeGreaterThanOrEqual(25);
  });

  it('that is not there is not found, and a number is itself', async () => {
    expect(await lookUp('nothing.test')).toBe('ENOTFOUND');
    expect(await lookUp('203.0.113.1')).toBe('203.0.113.1');
    expect(await lookUp('localhost')).toBe('127.0.0.1,::1');
  });

  it('is taken from the hosts file of the machine, where it has one', async () => {
    expect(await lookUp('localhost', { hostsFile: '/etc/hosts' })).toContain('127.0.0.1');
  });
});

test('a hosts file has addresses for names, and comments', () => {
  const file =
    '# good\n127.0.0.1 localhost\n::1\tlocalhost  Ada # 10.0.0.1 eve\nx y\n10.0.0.2 ada\n';
  expect(hostsOf(file, 'localhost')).toEqual(['127.0.0.1', '::1']);
  expect(hostsOf(file, 'ada')).toEqual(['::1', '10.0.0.2']);
  expect(hostsOf(file, 'eve')).toEqual([]);
});

test.each([
  ['svc', 'search cluster.test lan.\noptions ndots:5', ['svc.cluster.test', 'svc.lan', 'svc']],
  ['a.example.com', 'search lan', ['a.example.com', 'a.example.com.lan']],
  ['a.example.com', '', ['a.example.com']],
])('%s with %j is asked for as %j', (name, file, names) => {
  expect(searched(name, file)).toEqual(names);
});
