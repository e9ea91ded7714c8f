import { describe, expect, it } from 'vitest';
import { defineJob, type JobOptions } from '../../core/definition/define.ts';
import type { FromRunner, RunCommand } from '../ipc.ts';
import { byName } from './run.ts';
import { RunnerSession } from './session.ts';

/** A session with one definition; what it says is kept, and saves are answered by the test. */
function sessionOf(options: Partial<JobOptions<unknown, unknown>>) {
  const said: FromRunner[] = [];
  const waiting: (() => void)[] = [];
  const environment: Record<string, string> = {};
  const session = new RunnerSession({
    setSecrets: (secrets) => Object.assign(environment, secrets),
    definitions: byName([defineJob({ key: 'a', run: () => null, ...options })]),
    nowMs: () => 0,
    measure: () => () => ({ cpuMs: 1, peakRssBytes: 2, spent: false }),
    send: (message) => {
      said.push(message);
      for (const wake of waiting.splice(0)) wake();
    },
  });
  const next = async (type: FromRunner['type']) => {
    for (;;) {
      const found = said.find((message) => message.type === type);
      if (found) return found;
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };
  const run = (changes: Partial<RunCommand> = {}) => {
    const job = {
      id: 'j',
      tenant: 'acme',
      claim: 1,
      attempt: 1,
      maxAttempts: 3,
      key: 'a',
      version: 1,
    };
    session.receive({ type: 'run', job: { ...job, params: null, ...changes } });
  };
  const outcome = async () => {
    const message = await next('outcome');
    return message.type === 'outcome' ? message.outcome : null;
  };
  return { session, said, next, run, outcome, environment };
}

describe('a session', () => {
  it('answers with the result and what was measured', async () => {
    const { run, next } = sessionOf({ run: (params) => ({ params }) });
    run({ params: 5 });
    expect(await next('outcome')).toEqual({
      type: 'outcome',
      claim: 1,
      outcome: { kind: 'success', resultJson: '{"params":5}' },
      cpuMs: 1,
      peakRssBytes: 2,
      spent: false,
    });
  });

  it('sets the secrets of a job before it runs', async () => {
    const seen: unknown[] = [];
    const { run, outcome, environment } = sessionOf({
      run: (_, { secrets }) => void seen.push({ ...secrets }, { ...environment }),
    });
    run({ secrets: { TOKEN: 'x' } });
    await outcome();
    expect(seen).toEqual([{ TOKEN: 'x' }, { TOKEN: 'x' }]);
  });

  it('passes an abort on to the job it is meant for only', async () => {
    const { session, run, next, outcome } = sessionOf({
      run: async (_, { abortSignal, progress }) => {
        progress(0);
        await new Promise((resolve) => abortSignal.addEventListener('abort', resolve));
        return String(abortSignal.reason);
      },
    });
    run({ claim: 7 });
    await next('progress');
    session.receive({ type: 'abort', claim: 6, reason: 'cancel' });
    session.receive({ type: 'abort', claim: 7, reason: 'timeout' });
    expect(await outcome()).toMatchObject({ resultJson: expect.stringContaining('timeout') });
  });

  it('answers once, also when an error escapes after the outcome', async () => {
    const { session, said, run, outcome } = sessionOf({});
    run();
    await outcome();
    session.fail(new Error('late'));
    expect(said.filter(({ type }) => type === 'outcome')).toHaveLength(1);
  });

  it('takes an escaped error for the failure of the job that runs', async () => {
    const { session, run, outcome } = sessionOf({ run: async () => await new Promise(() => {}) });
    run();
    session.fail(new Error('escaped'));
    expect(await outcome()).toMatchObject({ kind: 'failure', error: { message: 'escaped' } });
  });

  it('lets the functions of ctx be taken out of it', async () => {
    const { run, next } = sessionOf({
      run: (_, { progress, emitEvent }) => {
        progress(0.5, 'half');
        void emitEvent('resized', { width: 3 });
      },
    });
    run();
    expect(await next('progress')).toMatchObject({ fraction: 0.5, message: 'half' });
    expect(await next('event')).toMatchObject({ name: 'resized', payloadJson: '{"width":3}' });
  });
});

describe('heartbeats', () => {
  const sent = async (heartbeatMs: number | undefined) => {
    const { said, run, outcome } = sessionOf({
      run: (_, { heartbeat }) => {
        for (let call = 0; call < 1_000; call += 1) heartbeat();
      },
    });
    run({ heartbeatMs });
    await outcome();
    return said.filter(({ type }) => type === 'heartbeat').length;
  };

  it('are sent once in their time, however many there are', async () => {
    expect(await sent(60_000)).toBe(1);
  });

  it('are not sent for a definition without a stall timeout', async () => {
    expect(await sent(undefined)).toBe(0);
  });
});

describe('steps', () => {
  it('wait until they are stored, and answer with what was', async () => {
    const { session, run, next, outcome } = sessionOf({
      run: async (_, { step }) => await step('made', () => ({ at: new Date(0) })),
    });
    run();
    const saved = await next('save');
    expect(saved).toMatchObject({ step: 'made', valueJson: '{"at":"1970-01-01T00:00:00.000Z"}' });
    session.receive({ type: 'saved', claim: 1, seq: 1, problem: null });
    expect(await outcome()).toEqual({
      kind: 'success',
      resultJson: '{"at":"1970-01-01T00:00:00.000Z"}',
    });
  });

  it('that an earlier attempt finished are not run again', async () => {
    let runs = 0;
    const { run, outcome } = sessionOf({
      run: async (_, { step, lastCheckpoint }) => [
        await step('done', () => (runs += 1)),
        lastCheckpoint,
      ],
    });
    run({ saved: { checkpoint: { page: 3 }, steps: { done: 42 } } });
    expect(await outcome()).toMatchObject({ resultJson: '[42,{"page":3}]' });
    expect(runs).toBe(0);
  });

  it('asked for twice at once run once', async () => {
    let runs = 0;
    const { session, run, next, outcome } = sessionOf({
      run: async (_, { step }) => await Promise.all([step('x', count), step('x', count)]),
    });
    const count = () => (runs += 1);
    run();
    await next('save');
    session.receive({ type: 'saved', claim: 1, seq: 1, problem: null });
    expect(await outcome()).toMatchObject({ resultJson: '[1,1]' });
  });

  it.each([
    ['the claim is lost', async (ctx: Steps) => await ctx.checkpoint(1), 'no longer'],
    [
      'the value is no JSON',
      async (ctx: Steps) => await ctx.checkpoint(() => 1),
      'stored: the value is a function',
    ],
    ['the name is empty', async (ctx: Steps) => await ctx.step('', () => 1), 'name'],
    ['the name has a NUL', async (ctx: Steps) => await ctx.step('a\u0000', () => 1), 'name'],
  ])('fail the attempt when %s', async (_, work, words) => {
    const { session, run, next, outcome } = sessionOf({
      retryOn: [],
      run: async (__, ctx) => await work(ctx),
    });
    run();
    void next('save').then(() =>
      session.receive({ type: 'saved', claim: 1, seq: 1, problem: 'no longer yours' }),
    );
    const error = { message: expect.stringContaining(words) };
    expect(await outcome()).toMatchObject({ kind: 'failure', error });
  });
});
type Steps = {
  checkpoint(value: unknown): Promise<void>;
  step(name: string, run: () => unknown): Promise<unknown>;
};

describe('hooks', () => {
  it('that run with the job are reported when they fail, and the job runs anyway', async () => {
    const { run, next, outcome } = sessionOf({
      onStart: () => {
        throw new Error('no coffee');
      },
    });
    run();
    expect(await next('hook-failed')).toMatchObject({
      hook: 'onStart',
      error: { message: 'no coffee' },
    });
    expect(await outcome()).toMatchObject({ kind: 'success' });
  });

  it('of an ended job know how it ended', async () => {
    let seen: unknown;
    const { run, outcome } = sessionOf({
      run: () => {
        throw new Error('must not run');
      },
      onFail: ({ error, status, attempt, params }) => {
        seen = { error, status, attempt, params };
      },
    });
    const error = { code: 'CRASHED', message: 'gone', stack: null, cause: null };
    const about = { jobId: 'p', status: 'failed', attempt: 3, maxAttempts: 3, params: 1, error };
    run({ key: '$hook:a', params: { hook: 'onFail', result: null, ...about } });
    expect(await outcome()).toEqual({ kind: 'success', resultJson: 'null' });
    expect(seen).toEqual({ error, status: 'failed', attempt: 3, params: 1 });
  });
});
