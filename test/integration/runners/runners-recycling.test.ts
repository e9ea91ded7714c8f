import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';
import { descendants, isAlive } from '../../support/processes.ts';
import { resultOf, type TestRunners, testRunners } from '../../support/servers/runners.ts';
import { until } from '../../support/until.ts';

let runners: TestRunners | undefined;
afterEach(async () => await runners?.stop());

/** A clock that can be put forward. */
function movableClock() {
  let aheadMs = 0;
  return {
    ...systemClock,
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
    pass: (ms: number) => (aheadMs += ms),
  };
}

const running = () =>
  descendants(process.pid).filter(({ command }) => command.includes('runner/main')).length;

describe('a warm runner', () => {
  it('is replaced after so many jobs', async () => {
    const clock = movableClock();
    const all = (runners = await testRunners('worn', { runnerMaxJobs: 3, clock }));
    const pids = [resultOf(await all.run('plain'))];
    clock.pass(61_000);
    for (let job = 1; job < 6; job += 1) pids.push(resultOf(await all.run('plain')));
    expect(new Set(pids.slice(0, 3)).size).toBe(1);
    expect(new Set(pids.slice(3)).size).toBe(1);
    expect(pids[0]).not.toBe(pids[3]);
    await until('the first is gone', () => !isAlive(pids[0] as number));
  });

  it('is not replaced in its first minute', async () => {
    const all = (runners = await testRunners('worn', { runnerMaxJobs: 1 }));
    const pid = resultOf(await all.run('plain'));
    for (let job = 0; job < 5; job += 1) expect(resultOf(await all.run('plain'))).toBe(pid);
  });

  it('is replaced after so many jobs when it is a thread', async () => {
    const clock = movableClock();
    const all = (runners = await testRunners('worn', { runnerMaxJobs: 2, clock }));
    const ids = [resultOf(await all.run('thread'))];
    clock.pass(61_000);
    for (let job = 1; job < 4; job += 1) ids.push(resultOf(await all.run('thread')));
    expect(ids[0]).toBe(ids[1]);
    expect(ids[2]).toBe(ids[3]);
    expect(ids[0]).not.toBe(ids[2]);
  });

  it.each([
    ['made it large', 'large'],
    ['went to another folder', 'leave'],
  ])('is replaced when a job %s', async (_, key) => {
    const all = (runners = await testRunners('worn'));
    const pid = resultOf(await all.run(key)) as number;
    await until('it is gone', () => !isAlive(pid));
    expect(resultOf(await all.run(key))).not.toBe(pid);
  });

  it('is replaced when it died while idle', async () => {
    const all = (runners = await testRunners('worn'));
    const { runner } = await all.run('plain');
    process.kill(runner.pid ?? 0, 'SIGKILL');
    await until('it is gone', () => !runner.alive);
    expect(resultOf(await all.run('plain'))).not.toBe(runner.pid);
  });

  it('of each memory limit has its own process', async () => {
    const all = (runners = await testRunners('worn'));
    const pids = [];
    for (const key of ['plain', 'limited', 'other']) pids.push(resultOf(await all.run(key)));
    expect(new Set(pids).size).toBe(3);
    expect(resultOf(await all.run('limited'))).toBe(pids[1]);
  });
});

describe('idle runners', () => {
  it('of one kind make room for those of another', async () => {
    const all = (runners = await testRunners('worn', { slots: 1 }));
    await all.run('plain');
    await all.run('limited');
    expect(running()).toBe(2);
    await all.run('other');
    await until('one has made room', () => running() === 2);
    expect(resultOf(await all.run('plain'))).toBeGreaterThan(1);
  });

  it('end after a while, but for one that waits for the next job', async () => {
    const clock = movableClock();
    const all = (runners = await testRunners('worn', { slots: 3, clock }));
    const jobs = await Promise.all(
      ['hold', 'hold', 'hold'].map(async (key) => await all.begin(key)),
    );
    await until('they run', () => jobs.every(({ messages }) => messages.length > 0));
    for (const job of jobs) job.abort('cancel');
    clock.pass(120_000);
    await Promise.all(jobs.map(async ({ ended }) => await ended));
    expect(running()).toBe(3);
    clock.pass(120_000);
    await all.run('plain');
    await until('two have ended', () => running() === 1);
  });
});
