import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  artifact,
  expectComplete,
  namesIn,
  openCache,
  startChild,
  storedArtifact,
} from '../../test/support/artifacts/cache-rig.ts';
import { until } from '../../test/support/until.ts';
import type { CacheStep } from './cache/content.ts';

describe('a process killed', () => {
  const steps: [CacheStep, number][] = [
    ['locked', 1],
    ['marked', 1],
    ['fetching', 1],
    ['downloading', 1],
    ['downloading', 4],
    ['downloaded', 1],
    ['unpacking', 1],
    ['unpacking', 3],
    ['unpacked', 1],
    ['renamed', 1],
    ['synced', 1],
    ['unlocked', 1],
  ];
  it.each(steps)('at %s %i leaves nothing half-usable', async (step, count) => {
    const stored = await storedArtifact();
    const { folder, archive, sha256 } = stored;
    const child = startChild(folder, archive, sha256, step, String(count));
    await child.said(`at ${step}`);
    await child.kill();
    const isComplete = ['renamed', 'synced', 'unlocked'].includes(step);
    const usable = (await namesIn(folder, 'content')).filter((name) => !name.startsWith('.'));
    expect(usable).toEqual(isComplete ? [sha256] : []);
    if (isComplete) await expectComplete(join(folder, 'content', sha256), stored);
    const { take, fetches } = await openCache(folder);
    expect(await namesIn(folder, 'content')).toEqual(usable);
    expect([await namesIn(folder, 'locks'), await namesIn(folder, 'uses')]).toEqual([[], []]);
    expect(await namesIn(folder, 'owners')).toHaveLength(1);
    await expectComplete((await take(stored)).folder, stored);
    expect(fetches()).toBe(isComplete ? 0 : 1);
  });

  it('while it removes an artifact leaves none that is half there', async () => {
    const stored = await storedArtifact();
    const { folder, archive, sha256 } = stored;
    const first = await openCache(folder);
    const other = artifact(2);
    await (await first.take(other)).release();
    await first.cache.close();
    const child = startChild(folder, archive, sha256, 'evicting', '1', '1');
    await child.said('at evicting');
    await child.kill();
    expect(await namesIn(folder, 'content')).not.toContain(other.sha256);
    const { take } = await openCache(folder);
    const names = await namesIn(folder, 'content');
    expect(names.filter((name) => name !== sha256)).toEqual([]);
    await expectComplete((await take(other)).folder, other);
  });

  it('with a lock does not keep the artifact from being removed', async () => {
    const stored = await storedArtifact();
    const { folder, archive, sha256 } = stored;
    const { cache, take } = await openCache(folder, { bytesMax: 1 });
    const held = await take(stored);
    const child = startChild(folder, archive, sha256, 'marked');
    await child.said('at marked');
    await held.release();
    await cache.evict();
    expect(await namesIn(folder, 'content')).toEqual([sha256]);
    await child.kill();
    await cache.evict();
    expect(await namesIn(folder, 'content')).toEqual([]);
    expect(await namesIn(folder, 'locks')).toEqual([]);
  });

  it('in a download is replaced by one that waits', async () => {
    const stored = await storedArtifact();
    const { folder, archive, sha256 } = stored;
    const child = startChild(folder, archive, sha256, 'downloading', '2');
    await child.said('at downloading');
    const { take, fetches } = await openCache(folder);
    const taking = take(stored);
    await until('the lock is there', async () =>
      (await namesIn(folder, 'locks')).some((name) => name.startsWith(sha256)),
    );
    expect(fetches()).toBe(0);
    await child.kill();
    await expectComplete((await taking).folder, stored);
    expect(fetches()).toBe(1);
  });
});

describe('processes together', () => {
  it('download once', async () => {
    const stored = await storedArtifact();
    const { folder, archive, sha256 } = stored;
    const children = [1, 2, 3].map(() => startChild(folder, archive, sha256));
    await Promise.all(children.map((child) => child.said('held')));
    const fetched = children.flatMap(({ lines }) => lines.filter((line) => line === 'fetch'));
    expect(fetched).toEqual(['fetch']);
  });

  it('keep what one of them uses, also if that one is stopped, until it is gone', async () => {
    const stored = await storedArtifact();
    const { folder, archive, sha256 } = stored;
    const child = startChild(folder, archive, sha256);
    await child.said('held');
    child.process.kill('SIGSTOP');
    const { cache, take } = await openCache(folder, { bytesMax: 1 });
    const other = artifact(2);
    await (await take(other)).release();
    await cache.evict();
    expect(await namesIn(folder, 'content')).toEqual([sha256]);
    await expectComplete(join(folder, 'content', sha256), stored);
    await child.kill();
    await cache.evict();
    expect(await namesIn(folder, 'content')).toEqual([]);
  });

  it('do not clean up after those that live', async () => {
    const stored = await storedArtifact();
    const { folder, archive, sha256 } = stored;
    const child = startChild(folder, archive, sha256, 'unpacked');
    await child.said('at unpacked');
    const before = await Promise.all(
      ['content', 'uses', 'locks'].map((part) => namesIn(folder, part)),
    );
    await openCache(folder);
    const after = await Promise.all(
      ['content', 'uses', 'locks'].map((part) => namesIn(folder, part)),
    );
    expect(after).toEqual(before);
    expect(before[0]).toHaveLength(1);
  });
});
