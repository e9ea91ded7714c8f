import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  artifact,
  expectComplete,
  inOneChunk,
  namesIn,
  openCache,
} from '../../test/support/artifacts/cache-rig.ts';
import { scratch } from '../../test/support/artifacts/scratch.ts';
import { tarGz } from '../../test/support/artifacts/tar-bytes.ts';

describe('a cache', () => {
  it('fetches once, unpacks read-only, and keeps it', async () => {
    const folder = join(await scratch(), 'cache');
    const { take, fetches } = await openCache(folder);
    const one = artifact();
    const held = await Promise.all([take(one), take(one), take(one)]);
    expect(fetches()).toBe(1);
    expect(held[0]).toMatchObject({
      sha256: one.sha256,
      bytes: one.size,
      manifest: { definitions: [{ entrypoint: { module: 'main.js' } }] },
    });
    await expectComplete(held[0].folder, one);
    for (const each of held) await each.release();
    await (await take(one)).release();
    expect(fetches()).toBe(1);
    const later = await openCache(folder);
    expect(await later.take(one)).toMatchObject({ bytes: one.size });
    expect(later.fetches()).toBe(0);
  });

  it('separates scopes', async () => {
    const folder = join(await scratch(), 'cache');
    const { take, fetches } = await openCache(folder);
    const one = artifact();
    const folders = [await take(one), await take(one, 'a'), await take(one, 'b')].map(
      (held) => held.folder,
    );
    expect([new Set(folders).size, fetches()]).toEqual([3, 3]);
  });

  it('removes what was used longest ago, and never what is in use', async () => {
    const folder = join(await scratch(), 'cache');
    let now = 0;
    const clock = {
      now: () => new Date((now += 1_000)),
      monotonicMs: () => now,
      random: () => 0,
    };
    const [a, b, c, d] = [artifact(1), artifact(2), artifact(3), artifact(4)];
    const { cache, take, fetches } = await openCache(folder, { bytesMax: 2.5 * a.size, clock });
    const inUse = await take(a);
    for (const one of [b, c]) await (await take(one)).release();
    await (await take(b)).release();
    await (await take(d)).release();
    await cache.evict();
    // a is in use, and of the others d was used last.
    expect(await namesIn(folder, 'content')).toEqual([a.sha256, d.sha256].sort());
    await expectComplete(inUse.folder, a);
    await inUse.release();
    await inUse.release();
    const before = fetches();
    await (await take(b)).release();
    await cache.evict();
    expect(await namesIn(folder, 'content')).toEqual([b.sha256, d.sha256].sort());
    expect([fetches() - before, await namesIn(folder, 'uses')]).toEqual([1, []]);
    expect(await namesIn(folder, 'locks')).toEqual([]);
  });

  it('keeps nothing of a download that fails, and tries again', async () => {
    const folder = join(await scratch(), 'cache');
    const { cache, take } = await openCache(folder);
    const one = artifact();
    const wrong = cache.take(one.sha256, async () => inOneChunk(one.bytes.subarray(1)));
    await expect(wrong).rejects.toMatchObject({ code: 'ARTIFACT_CORRUPT' });
    const down = cache.take(one.sha256, () => Promise.reject(new Error('down')));
    await expect(down).rejects.toThrow('down');
    const hostile = tarGz([{ name: 'a', type: '2', link: '/etc' }]);
    const sha256 = createHash('sha256').update(hostile).digest('hex');
    const refused = cache.take(sha256, async () => inOneChunk(hostile));
    await expect(refused).rejects.toMatchObject({ code: 'ARCHIVE_LINK' });
    const small = await openCache(folder, { limits: { archiveBytesMax: 100 } });
    await expect(small.take(one)).rejects.toMatchObject({ code: 'ARCHIVE_TOO_LARGE' });
    for (const part of ['content', 'uses', 'locks'])
      expect(await namesIn(folder, part)).toEqual([]);
    await expectComplete((await take(one)).folder, one);
  });

  it('lets a caller give up, and finishes for the others', async () => {
    const folder = join(await scratch(), 'cache');
    const { cache } = await openCache(folder);
    const one = artifact();
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const fetch = async () => {
      await gate;
      return inOneChunk(one.bytes);
    };
    const stop = new AbortController();
    const impatient = cache.take(one.sha256, fetch, { signal: stop.signal });
    const patient = cache.take(one.sha256, fetch);
    stop.abort(new Error('enough'));
    await expect(impatient).rejects.toThrow('enough');
    open();
    await expectComplete((await patient).folder, one);
  });

  it('has no more after a hundred artifacts than after a few', async () => {
    const folder = join(await scratch(), 'cache');
    const { cache, take, fetches } = await openCache(folder, { bytesMax: 3.5 * artifact().size });
    for (let seed = 1; seed <= 100; seed += 1) {
      const one = artifact(seed);
      const held = await take(one);
      await expectComplete(held.folder, one);
      await held.release();
    }
    await cache.evict();
    expect([fetches(), (await namesIn(folder, 'content')).length]).toEqual([100, 3]);
    for (const part of ['uses', 'locks']) expect(await namesIn(folder, part)).toEqual([]);
    expect(await namesIn(folder, 'owners')).toHaveLength(1);
  });

  it('works in a folder with a long path', async () => {
    const folder = join(await scratch(), 'x'.repeat(100), 'y'.repeat(100));
    const [first, second] = [await openCache(folder), await openCache(folder)];
    const one = artifact();
    const held = await Promise.all([first.take(one), second.take(one)]);
    expect(first.fetches() + second.fetches()).toBe(1);
    await expectComplete(held[1].folder, one);
  });

  it('is closed with its downloads', async () => {
    const folder = join(await scratch(), 'cache');
    const { cache } = await openCache(folder);
    const one = artifact();
    const taking = cache.take(
      one.sha256,
      async (signal) =>
        await new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    );
    const failed = expect(taking).rejects.toThrow('the cache is closed');
    await cache.close();
    await failed;
    await expect(cache.take(one.sha256, async () => inOneChunk(one.bytes))).rejects.toThrow(
      'closed',
    );
    for (const part of ['content', 'uses', 'locks', 'owners']) {
      expect([part, await namesIn(folder, part)]).toEqual([part, []]);
    }
  });
});
