import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Isolation } from '../../../src/core/definition/definition.ts';
import type { Outcome } from '../../../src/core/job/lifecycle.ts';
import type { ClaimedJob } from '../../../src/store/claim/claim.ts';
import { Execution } from '../../../src/worker/attempt/execution.ts';
import { errorOf, resultOf, type TestRunners, testRunners } from '../../support/servers/runners.ts';
import { until } from '../../support/until.ts';

/** One contract, four ways to keep it. Where a way cannot, the table says so. */
interface Mode {
  isolation: Isolation;
  /** Whether it runs in the worker's own process. */
  shared: boolean;
  /** Whether it can be ended when it does not listen. */
  killable: boolean;
  /** Whether its output is separate from the output of the worker. */
  captured: boolean;
  /** Whether the same process runs the next job. */
  reused: boolean;
}

const MODES: Mode[] = [
  { isolation: 'process', shared: false, killable: true, captured: true, reused: true },
  { isolation: 'fresh', shared: false, killable: true, captured: true, reused: false },
  { isolation: 'thread', shared: true, killable: true, captured: true, reused: true },
  { isolation: 'inline', shared: true, killable: false, captured: false, reused: true },
];

let runners: TestRunners;
beforeAll(async () => {
  runners = await testRunners('modes');
});
afterAll(async () => await runners.stop());

describe.each(MODES)('isolation $isolation', ({ isolation, ...mode }) => {
  const run = async (name: string, params?: unknown) =>
    await runners.run(`${isolation}.${name}`, params);
  const begin = async (name: string) => {
    const begun = await runners.begin(`${isolation}.${name}`);
    await until('it has begun', () => begun.messages.length > 0);
    return begun;
  };

  it('hands params and result over to the letter', async () => {
    const params = { a: [1, 2.5, null, 'ünï\u0000'], b: { '': true } };
    expect(resultOf(await run('echo', params))).toEqual(params);
  });

  it(mode.shared ? 'runs in the worker' : 'runs in a process of its own', async () => {
    const ran = await run('pid');
    const pid = resultOf(ran);
    expect(pid === process.pid).toBe(mode.shared);
    expect(ran.runner.pid).toBe(pid);
  });

  it(mode.reused ? 'is used again' : 'is used once', async () => {
    const [first, second] = [resultOf(await run('pid')), resultOf(await run('pid'))];
    expect(first === second).toBe(mode.reused);
  });

  it.each([
    ['throw-text', 'HANDLER_ERROR', 'plain words'],
    ['reject-nothing', 'HANDLER_ERROR', 'the job threw undefined'],
    ['return-cycle', 'RESULT_INVALID', 'circular'],
  ])('reports %s, and the next job runs', async (name, code, message) => {
    const error = errorOf(await run(name));
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
    expect(resultOf(await run('echo', 1))).toBe(1);
  });

  it('passes the abort signal on', async () => {
    const job = await begin('wait-for-abort');
    job.abort('cancel');
    const { message } = errorOf(await job.ended);
    expect(message).toBe('The operation was aborted');
  });

  it('carries the messages of a job, and the answers', async () => {
    const ran = await run('tell-all');
    expect(ran.messages).toMatchObject([
      { type: 'progress', fraction: 0.5, message: 'half' },
      { type: 'log', level: 'info', message: 'a line {"a":1}' },
      { type: 'event', name: 'made', payloadJson: '{"size":2}' },
      { type: 'save', step: null, valueJson: '{"page":3}', durationMs: null },
      { type: 'step', name: 'add', state: 'started' },
      { type: 'save', step: 'add', valueJson: '4', durationMs: expect.any(Number) as number },
    ]);
    expect(resultOf(ran)).toBe(4);
  });

  it.each(['forget-wait', 'forget-helper', 'forget-wait-and-work'])(
    'suspends a job that does not await its wait: %s',
    async (name) => {
      const ran = await run(name);
      expect(ran.outcome?.outcome).toMatchObject({ kind: 'suspended', signal: 'decision' });
      const [warning] = ran.messages.filter(({ type }) => type === 'log');
      const message = expect.stringMatching(
        /waitFor\("decision"\) .*is an await missing/,
      ) as string;
      expect(warning).toMatchObject({ level: 'warn', message });
      expect(resultOf(await run('echo', 4))).toBe(4);
    },
  );

  it('warns of a step that a job does not await', async () => {
    const ran = await run('forget-step');
    expect(resultOf(ran)).toBe('sent');
    const message = 'step "mail" was still running when run() returned: is an await missing?';
    expect(ran.messages).toMatchObject([
      { type: 'step', name: 'mail', state: 'started' },
      { type: 'log', level: 'warn', message },
    ]);
  });

  it.runIf(mode.captured)('tells what a job wrote before it tells its outcome', async () => {
    for (let round = 0; round < (mode.reused ? 20 : 3); round += 1) {
      const { output } = await run('write', { lines: 3 });
      expect(output.filter((line) => line.startsWith('stdout'))).toEqual([
        'stdout: out 1',
        'stdout: out 2',
        'stdout: out 3',
      ]);
      expect(output).toContain('stderr: err without an end');
    }
  });

  it('keeps what an ended job left running away from the next one', async () => {
    const first = await run('leave-work', { throws: mode.killable });
    const ran = await run('come-next');
    expect(resultOf(ran)).toEqual([mode.reused ? resultOf(first) : expect.anything(), 'mine']);
    expect(ran.messages).toMatchObject([
      { type: 'step', name: 'made', state: 'started' },
      { type: 'save', step: 'made', valueJson: '"mine"' },
    ]);
    // Where an error has escaped, nothing more is run.
    if (mode.killable) expect(ran.runner.alive).toBe(false);
  });

  it.runIf(mode.captured)('tells all that a job wrote as its own', async () => {
    const lines = 30_000;
    const { output } = await run('write', { lines });
    expect(output).toContain(`stdout: out ${lines}`);
    expect((await run('write', { lines: 1 })).output).toHaveLength(2);
  });

  it.runIf(mode.killable)('ends a job that ignores everything', async () => {
    const job = await begin('ignore-everything');
    job.runner.kill();
    expect(await job.ended).toMatchObject({ outcome: null });
    expect(job.runner.alive).toBe(false);
    expect(resultOf(await run('echo', 2))).toBe(2);
  });

  it.runIf(mode.killable)('ends a job that never yields', async () => {
    const job = await begin('never-yield');
    job.runner.kill();
    expect(await job.ended).toMatchObject({ outcome: null });
  });

  it.runIf(mode.killable)(
    'ends a job that is asked to by SIGTERM, or what stands for it',
    async () => {
      const job = await begin('wait-for-abort');
      job.runner.terminate();
      expect(await job.ended).toMatchObject({ outcome: null });
    },
  );

  it.runIf(mode.killable)('tells of a job that ends its process early', async () => {
    for (const code of [0, 3]) {
      const ran = await run('exit', { code });
      expect(ran.outcome).toBeNull();
      expect(errorOf(ran)).toMatchObject({ code: 'CRASHED' });
      expect(errorOf(ran).message).toContain(`ended itself with exit code ${code}`);
    }
    expect(resultOf(await run('echo', 3))).toBe(3);
  });

  it.runIf(mode.killable)('tells of an error that escaped the promise of the job', async () => {
    expect(errorOf(await run('throw-later'))).toMatchObject({ message: 'from a timer' });
  });

  it.runIf(!mode.killable)('gives up a job that cannot be killed', async () => {
    const job = await begin('wait-for-abort');
    job.runner.kill();
    expect(await job.ended).toMatchObject({ outcome: null });
    job.abort('cancel');
  });
});

it('an execution that has ended does not reach the next job of its runner', async () => {
  const { runner } = await runners.run('process.pid');
  const definition = runners.definition('process.pid');
  const job = { id: randomUUID(), claim: 1, attempts: 1, maxAttempts: 3 } as ClaimedJob;
  const execution = new Execution(0, { job, definition, tenant: 'default', secretsMark: null }, 0);
  const outcome = await new Promise<Outcome>((resolve) =>
    execution.run(
      runner,
      { paramsJson: '{}', saved: undefined, secrets: null },
      {
        events: {
          onProgress: () => {},
          onLine: () => {},
          onEvent: () => {},
          onStream: () => {},
          onStep: () => {},
        },
        spawn: async () => ({ problem: null }),
        saveStep: async () => null,
        onEnd: (_, __, ended) => resolve(ended.outcome),
      },
    ),
  );
  expect(outcome).toEqual({ kind: 'success', resultJson: String(runner.pid) });

  const next = await runners.begin('process.come-next');
  expect(next.runner).toBe(runner);
  // As long as its outcome is not written, a heartbeat can still tell that it is cancelled, or lost.
  execution.askToStop('cancel');
  execution.fence();
  expect(resultOf(await next.ended)).toEqual([runner.pid, 'mine']);
});
