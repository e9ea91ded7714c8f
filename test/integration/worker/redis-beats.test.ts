import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { RedisBeats, type RedisBeatsOptions } from '../../../src/liveness/redis-beats.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { hasRedis, startRedis, type TestRedis } from '../../support/servers/redis.ts';
import { until } from '../../support/until.ts';

let redis: TestRedis;
beforeAll(async () => {
  if (hasRedis) redis = await startRedis();
});
beforeEach(async () => {
  if (hasRedis) await redis.command('FLUSHALL');
});
afterAll(async () => await redis?.server.remove());

async function open(changes: Partial<RedisBeatsOptions> = {}): Promise<RedisBeats> {
  const beats = new RedisBeats({ url: redis.url, ttlMs: 30_000, log: silentLog, ...changes });
  onTestFinished(async () => await beats.stop());
  await beats.start();
  return beats;
}

describe.skipIf(!hasRedis)('beats in Redis (needs redis-server)', () => {
  it('are keys with the id of the worker, which vanish by themselves', async () => {
    const beats = await open();
    await beats.beat('w1', ['a', 'b']);
    await beats.beat('w2', ['b']);
    expect(await redis.command('GET', 'job:a:heartbeat')).toBe('w1');
    expect(Number(await redis.command('PTTL', 'job:b:heartbeat'))).toBeGreaterThan(0);
    expect(await beats.ownersOf(['a', 'b', 'c'])).toEqual(
      new Map([
        ['a', 'w1'],
        ['b', 'w2'],
        ['c', null],
      ]),
    );
    const brief = await open({ ttlMs: 20 });
    await brief.beat('w1', ['d']);
    await until('it is gone', async () => (await redis.command('EXISTS', 'job:d:heartbeat')) === 0);
  });

  it('of a thousand jobs are one batch on one connection', async () => {
    const beats = await open();
    const ids = Array.from({ length: 1_000 }, () => randomUUID());
    await Promise.all([beats.beat('w', ids), beats.beat('w', []), beats.ownersOf(ids)]);
    expect(await redis.command('DBSIZE')).toBe(1_000);
    // The other one belongs to the caller.
    expect(
      String(await redis.command('CLIENT', 'LIST'))
        .trim()
        .split('\n'),
    ).toHaveLength(2);
  });

  it.each([
    ['killed', async () => await redis.server.kill(), async () => await redis.server.start()],
    [
      'frozen',
      async () => redis.server.signal('SIGSTOP'),
      async () => redis.server.signal('SIGCONT'),
    ],
  ])('fail while Redis is %s, and work again when it is back', async (_, hurt, heal) => {
    const beats = await open();
    const late = await open();
    await beats.beat('w', ['a']);
    await hurt();
    await expect(beats.beat('w', ['a'])).rejects.toThrow();
    await expect(beats.beat('w', [])).rejects.toThrow();
    await expect(late.ownersOf(['a'])).rejects.toThrow();
    await heal();
    await until('it beats again', async () =>
      beats.beat('w', ['b']).then(
        () => true,
        () => false,
      ),
    );
    expect(await until('it reads', async () => late.ownersOf(['b']).catch(() => null))).toEqual(
      new Map([['b', 'w']]),
    );
  });

  it('that are refused count as failed', async () => {
    const beats = await open();
    await beats.beat('w', ['a']);
    await redis.command('CONFIG', 'SET', 'maxmemory', '1');
    onTestFinished(async () => void (await redis.command('CONFIG', 'SET', 'maxmemory', '0')));
    await expect(beats.beat('w', ['a', 'b'])).rejects.toThrow(/OOM/);
  });

  it('need no Redis to start, but they need the package', async () => {
    await expect(open({ url: 'redis://127.0.0.1:1' })).resolves.toBeInstanceOf(RedisBeats);
    const load = async () => {
      throw Object.assign(new Error("Cannot find package 'redis'"), {
        code: 'ERR_MODULE_NOT_FOUND',
      });
    };
    await expect(open({ load })).rejects.toThrow(
      'LONGSHORE_REDIS_URL is set, but the package "redis" cannot be loaded: run "npm install redis"',
    );
  });

  it('are over after a stop', async () => {
    const beats = await open();
    await beats.beat('w', ['a']);
    await beats.stop();
    await beats.stop();
    await expect(beats.beat('w', ['a'])).rejects.toThrow('closed');
  });
});
