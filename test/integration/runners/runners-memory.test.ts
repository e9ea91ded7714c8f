import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ControlGroups, memoryMethod } from '../../../src/runtime/processes/cgroup.ts';
import { errorOf, resultOf, type TestRunners, testRunners } from '../../support/servers/runners.ts';

const hasGroups = memoryMethod() !== 'rlimit and RSS watch';

/** A machine that lets us make control groups is tested with them and without. */
const METHODS = [
  ...(hasGroups ? [{ method: memoryMethod() }] : []),
  { method: 'rlimit and RSS watch', controlGroups: () => null },
];

describe.each(METHODS)('memory limited by $method', ({ controlGroups }) => {
  let runners: TestRunners;
  beforeAll(async () => {
    runners = await testRunners('memory', controlGroups ? { controlGroups } : {});
  });
  afterAll(async () => await runners.stop());

  it.each(['heap', 'buffers', 'slowly', 'child', 'fresh-heap', 'command'])(
    'ends a job that takes too much: %s',
    async (key) => {
      const ran = await runners.run(key);
      const { memoryMb } = runners.definition(key);
      expect(errorOf(ran)).toMatchObject({ code: 'OUT_OF_MEMORY' });
      expect(errorOf(ran).message).toContain(`${memoryMb} MB`);
      // Others do not feel it.
      expect(resultOf(await runners.run('modest'))).toBe('enough');
    },
  );

  it('lets a job have what it asked for', async () => {
    expect(resultOf(await runners.run('smallest'))).toBe('enough');
    expect(resultOf(await runners.run('unlimited'))).toBe(300_000_000);
  });

  it('reports the usage of a job that was killed for it', async () => {
    const { exit } = await runners.run('slowly');
    expect(exit?.peakRssBytes).toBeGreaterThan(100_000_000);
  });
});

describe('memory of a thread', () => {
  let runners: TestRunners;
  beforeAll(async () => {
    runners = await testRunners('memory');
  });
  afterAll(async () => await runners.stop());

  it('is limited too, as far as it is JavaScript', async () => {
    const error = errorOf(await runners.run('thread-heap'));
    expect(error).toMatchObject({ code: 'OUT_OF_MEMORY' });
    expect(error.message).toContain('64 MB');
  });
});

describe.runIf(hasGroups)('a definition whose file is too large for its own limit', () => {
  it.each(['too-heavy', 'fresh-too-heavy'])('fails as that: %s', async (key) => {
    const runners = await testRunners('heavy');
    expect(errorOf(await runners.run(key))).toMatchObject({ code: 'OUT_OF_MEMORY' });
    expect(resultOf(await runners.run('fits'))).toBe(100_000_000);
    await runners.stop();
  });
});

describe('a worker that stops', () => {
  it.runIf(hasGroups)('leaves no control group', async () => {
    let path = '';
    const controlGroups = (name: string) => {
      const groups = ControlGroups.create(name);
      path = groups?.paths[0] ?? '';
      return groups;
    };
    const runners = await testRunners('memory', { controlGroups });
    await runners.run('modest');
    expect(existsSync(path)).toBe(true);
    await runners.stop();
    expect(existsSync(path)).toBe(false);
  });
});
