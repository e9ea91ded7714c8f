import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  findTagged,
  newFamily,
  readTag,
  tagIn,
  tagOf,
} from '../../../src/runtime/processes/name-tag.ts';
import { isAlive } from '../../support/processes.ts';
import { errorOf, resultOf, type TestRunners, testRunners } from '../../support/servers/runners.ts';
import { until } from '../../support/until.ts';

let runners: TestRunners;
beforeAll(async () => {
  runners = await testRunners('left');
});
afterAll(async () => await runners.stop());

describe('a job that left processes behind', () => {
  it.each(['daemon', 'orphan', 'by-thread', 'fresh', 'limited', 'command'])(
    'is over when they are gone: %s',
    async (key) => {
      const pid = resultOf(await runners.run(key)) as number;
      expect(pid).toBeGreaterThan(1);
      if (key !== 'fresh') expect(isAlive(pid)).toBe(false);
      else await until('it is gone with its runner', () => !isAlive(pid));
    },
  );

  it('is over when they are gone, also when it failed', async () => {
    const pid = Number(errorOf(await runners.run('failing')).message);
    expect(pid).toBeGreaterThan(1);
    expect(isAlive(pid)).toBe(false);
  });

  it('is over when they are gone, also when it crashed', async () => {
    const { output } = await runners.run('exiting');
    const pid = Number(output[0]?.replace('stdout: ', ''));
    expect(pid).toBeGreaterThan(1);
    expect(isAlive(pid)).toBe(false);
  });

  it('is over when they are gone, also when it was killed', async () => {
    const job = await runners.begin('lingering');
    await until('it has begun', () => job.messages.length > 0);
    const { pids, folder } = leftovers(job.messages[0]);
    expect(pids.every(isAlive)).toBe(true);
    job.runner.kill();
    await job.ended;
    expect(pids.filter(isAlive)).toEqual([]);
    expect(existsSync(folder)).toBe(false);
  });

  it('does not have a runner again that started processes, while others do', async () => {
    const first = resultOf(await runners.run('nothing'));
    expect(resultOf(await runners.run('nothing'))).toBe(first);
    const { runner } = await runners.run('daemon');
    expect(runner.alive).toBe(false);
  });

  it('can be ended while it multiplies', async () => {
    const job = await runners.begin('multiplying');
    // The launcher puts it on, a moment after the process has begun.
    const tag = await until('it has its tag', () => readTag(job.runner.pid ?? 0));
    const all = async () => (await findTagged((other) => other === tag)).size;
    await until('there are many', async () => (await all()) > 50);
    job.runner.kill();
    await job.ended;
    expect(await all()).toBe(0);
  });

  it('ends no other process', async () => {
    const stranger = spawn('/bin/sleep', ['1000'], { detached: true, stdio: 'ignore' });
    await runners.run('daemon');
    expect(isAlive(stranger.pid ?? 0)).toBe(true);
    stranger.kill('SIGKILL');
  });
});

describe('a worker that can no longer clean up', () => {
  const MAIN = fileURLToPath(new URL('../../support/servers/lone-worker.ts', import.meta.url));
  let worker: ChildProcess | undefined;
  afterEach(() => void worker?.kill('SIGKILL'));

  async function lone(...args: string[]): Promise<{ pids: number[]; folder: string }> {
    const child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', MAIN, ...args],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    worker = child;
    for await (const line of createInterface({ input: child.stdout })) {
      return JSON.parse(line) as { pids: number[]; folder: string };
    }
    throw new Error('it ended at once');
  }

  it('because it was killed, has it done by its watchdog, down to the folders', async () => {
    const { pids, folder } = await lone();
    expect(pids.every(isAlive)).toBe(true);
    expect(existsSync(folder)).toBe(true);
    worker?.kill('SIGKILL');
    await until('all are gone', () => !pids.some(isAlive));
    await until('the folder is gone', () => !existsSync(folder));
    const root = folder.slice(0, folder.lastIndexOf('/'));
    await until('the folder of the worker is gone', () => !existsSync(root));
  });

  it('because it is frozen beyond its lease, has it done by its watchdog', async () => {
    const { pids } = await lone('1000');
    worker?.kill('SIGSTOP');
    await until('all are gone', () => !pids.some(isAlive));
  });
});

describe('a name tag', () => {
  it.each([0, 0.5, 0.999_999_999])('is a limit that no machine reaches (%d)', (random) => {
    const tag = tagOf(newFamily(random), 7);
    expect(tag).toBeGreaterThan(2 ** 32);
    expect(tag).toBeLessThan(2 ** 53);
    const line = `Max resident set          ${BigInt(tag) * 1_024n} ${BigInt(tag) * 1_024n} bytes`;
    expect(tagIn(line)).toBe(tag);
  });

  it.each(['unlimited', '1073741824', ''])('is not seen in %j', (limit) => {
    expect(tagIn(`Max resident set          ${limit}                bytes`)).toBeNull();
  });

  it('is carried by no process that is not ours', () => {
    expect(readTag(process.pid)).toBeNull();
    expect(readTag(2 ** 30)).toBeNull();
  });
});

function leftovers(message: unknown): { pids: number[]; folder: string } {
  return JSON.parse((message as { message: string }).message) as { pids: number[]; folder: string };
}
