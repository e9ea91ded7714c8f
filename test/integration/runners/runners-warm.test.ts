import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ControlGroups } from '../../../src/runtime/processes/cgroup.ts';
import { isAlive } from '../../support/processes.ts';
import { resultOf, type TestRunners, testRunners } from '../../support/servers/runners.ts';
import { until } from '../../support/until.ts';

/** What a job can do to the jobs that come after it, or run beside it, by any worker. */

let runners: TestRunners;
beforeAll(async () => {
  runners = await testRunners('users');
});
afterAll(async () => await runners.stop());

const pidFor = async (tenant: string) => {
  const { pid } = resultOf(await runners.run('who-am-i', {}, tenant)) as { pid: number };
  return pid;
};

describe('a warm process', () => {
  it('never serves two tenants', async () => {
    const a = await pidFor('a');
    const b = await pidFor('b');
    expect(b).not.toBe(a);
    // As long as there is room, each finds its own again.
    expect([await pidFor('a'), await pidFor('b')]).toEqual([a, b]);
    const seen = new Map([
      [a, 'a'],
      [b, 'b'],
    ]);
    for (const tenant of ['c', 'd', 'e', 'c', 'd', 'e']) {
      const pid = await pidFor(tenant);
      expect(seen.get(pid) ?? tenant).toBe(tenant);
      seen.set(pid, tenant);
    }
  });

  it.each(['fakes-and-waits', 'fakes-and-loops'])(
    'is ended when its job goes on after its outcome: %s',
    async (key) => {
      const pid = resultOf(await runners.run(key)) as number;
      expect(pid).toBeGreaterThan(1);
      await until('it is ended', () => !isAlive(pid));
    },
  );

  it.each([[['__proto__']], [['constructor', 'prototype']]])(
    'is not used again after params changed what all objects inherit: %j',
    async (path) => {
      const pid = resultOf(await runners.run('pollutes', { path })) as number;
      const [polluted, next] = resultOf(await runners.run('is-polluted')) as [string, number];
      expect(polluted).toBe('no');
      expect(next).not.toBe(pid);
    },
  );
});

describe('a job that starts processes without end', () => {
  const groups = ControlGroups.create('longshore-test-warm');
  afterAll(async () => await groups?.remove());
  const counted = groups?.paths.some(
    (path) => existsSync(`${path}/pids.max`) || path.includes('pids'),
  );

  it.runIf(counted)('gets 512 (needs control groups)', async () => {
    const job = await runners.begin('forks');
    await until('it has as many as it gets', () => job.messages.length > 400);
    const neighbour = await pidFor('a');
    expect(neighbour).toBeGreaterThan(1);
    const { exit, outcome } = await job.ended;
    expect(outcome?.exitCode ?? exit?.code).not.toBe(0);
    expect(job.messages.length).toBeLessThanOrEqual(512);
  });
});

it('a process that took its tag off is ended with its job', async () => {
  const pid = resultOf(await runners.run('untagged')) as number;
  expect(pid).toBeGreaterThan(1);
  expect(isAlive(pid)).toBe(false);
});

it('a start that fails leaves no folder and no control group', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'longshore-test-'));
  vi.stubEnv('TMPDIR', folder);
  let paths: string[] = [];
  const controlGroups = (name: string) => {
    const groups = ControlGroups.create(name);
    paths = groups?.paths ?? [];
    return groups;
  };
  // Node exits at once when it cannot import the module of --import.
  const tracing = '/no/such/file.ts';
  await expect(testRunners('users', { tracing, controlGroups })).rejects.toThrow('exit code 1');
  vi.unstubAllEnvs();
  expect(paths.filter((path) => existsSync(path))).toEqual([]);
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});
