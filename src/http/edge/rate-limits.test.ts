import { afterAll, describe, expect, it, test } from 'vitest';
import { formatApiKey } from '../../core/access/api-key.ts';
import { silentLog } from '../../runtime/log.ts';
import type { Db } from '../../store/connection/db.ts';
import type { Enqueuer } from '../../enqueue/enqueuer.ts';
import { networkOf, RateLimits } from './rate-limits.ts';
import { buildServer } from '../server.ts';

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '::ffff:203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8::6', '2001:db8:0:0'],
  ['2001:db8:1:2::', '2001:db8:1:2'],
  ['::1', '0:0:0:0'],
])('%s is in the network %s', (ip, network) => expect(networkOf(ip)).toBe(network));

describe('the limits', () => {
  const at = { ms: 0 };
  const clock = { now: () => new Date(0), monotonicMs: () => at.ms, random: () => 0 };
  const limits = new RateLimits({ keyRequestsPerSecond: 1, addressRequestsPerSecond: 2 }, clock);
  const headers: Record<string, string> = {};
  const reply = { headers: (more: object) => Object.assign(headers, more) } as never;
  const from = (ip: string) => () => limits.ofAddress({ clientAddress: ip } as never, reply);

  it('hold for each address by itself, and not for loopback', () => {
    for (let n = 0; n < 4; n += 1) from('203.0.113.9')();
    expect(headers).toEqual({
      'ratelimit-policy': '"address";q=4;w=2',
      ratelimit: '"address";r=0;t=1',
    });
    expect(from('203.0.113.9')).toThrow('too many requests from this address');
    expect(from('203.0.113.10')).not.toThrow();
    at.ms += 500;
    expect(from('203.0.113.9')).not.toThrow();
    for (let n = 0; n < 100; n += 1) from('127.0.0.1')();
    for (let n = 0; n < 100; n += 1) from('::1')();
  });

  it('of workers are not used up by other calls with the same key', () => {
    const call = (isWorker: boolean) => () => limits.ofKey('w', reply, isWorker);
    call(false)();
    call(false)();
    expect(call(false)).toThrow('too many requests by this key');
    expect(call(true)).not.toThrow();
  });

  it('hold for each key by itself', () => {
    for (const name of ['a', 'a', 'b', 'b']) limits.ofKey(name, reply);
    expect(() => limits.ofKey('a', reply)).toThrow('by this key');
  });
});

describe('a server', () => {
  const asked = { times: 0 };
  const db = { run: async () => ((asked.times += 1), [{ any: true }].slice(1)) } as unknown as Db;
  const bare = {
    db,
    enqueuer: {} as Enqueuer,
    log: silentLog,
    host: '127.0.0.1',
    port: 0,
    version: '0',
  };
  const limits = { keyRequestsPerSecond: 0, addressRequestsPerSecond: 1 };
  const app = buildServer({ ...bare, limits });
  afterAll(async () => await app.close());
  const call = async (remoteAddress: string, key?: string) =>
    await app.inject({
      url: '/v1/jobs',
      remoteAddress,
      headers: { host: 'localhost', ...(key && { authorization: `Bearer ${key}` }) },
    });
  const keyNumber = (n: number) =>
    formatApiKey({ id: String(n).padStart(16, '0'), secret: '0'.repeat(64) });

  it('answers 429 before it asks the database, and says when to come again', async () => {
    await Promise.all(Array.from({ length: 200 }, async () => await call('203.0.113.9')));
    const before = asked.times;
    const answers = await Promise.all([1, 2, 3].map(async () => await call('203.0.113.9')));
    const refused = answers.filter(({ statusCode }) => statusCode === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(asked.times - before).toBeLessThanOrEqual(3 * (answers.length - refused.length));
    expect(refused[0]?.json()).toMatchObject({ code: 'RATE_LIMITED' });
    expect(refused[0]?.headers).toMatchObject({
      'retry-after': '1',
      ratelimit: '"address";r=0;t=1',
    });
  });

  it('soon does not look for the keys of who shows one wrong key after another', async () => {
    const statuses = new Set<number>();
    for (let n = 0; n < 400; n += 1)
      statuses.add((await call('127.0.0.1', keyNumber(n))).statusCode);
    expect(statuses).toEqual(new Set([401, 429]));
    const before = asked.times;
    const mistyped = await call('127.0.0.1', 'lsk_mistyped');
    expect([mistyped.statusCode, asked.times]).toEqual([401, before]);
  });
});
