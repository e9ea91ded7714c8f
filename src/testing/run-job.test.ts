import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { defineCommand } from '../core/definition/define-command.ts';
import { defineJob, type JobContext, NonRetryable, RetryAfter } from '../core/definition/define.ts';
import { faulty } from './faults.ts';
import { runJob } from './run-job.ts';

const greet = defineJob({
  key: 'greet',
  params: z.object({ name: z.string(), loud: z.boolean().default(false) }),
  onStart: (ctx) => ctx.logger.info('attempt %d', ctx.attempt),
  run: ({ name, loud }, ctx) => {
    ctx.progress(0.5, 'half');
    void ctx.emitEvent('greeted', { name });
    return { words: loud ? name.toUpperCase() : name };
  },
});

const twoSteps = defineJob({
  key: 'two-steps',
  maxAttempts: 2,
  retry: { baseMs: 5_000 },
  run: async (_params: unknown, ctx) => {
    const first = await ctx.step('first', () => ctx.attempt);
    await ctx.checkpoint({ at: ctx.attempt });
    if (ctx.attempt === 1) throw new Error('not yet');
    return { first, last: ctx.lastCheckpoint };
  },
});

describe('runJob', () => {
  test('tells all that an attempt did', async () => {
    const run = await runJob(greet, { name: 'you' });
    expectTypeOf(run.result).toEqualTypeOf<{ words: string } | undefined>();
    expect(run).toMatchObject({
      status: 'succeeded',
      result: { words: 'you' },
      error: null,
      nextInMs: null,
      logs: [{ level: 'info', stream: 'logger', message: 'attempt 1' }],
      progress: [{ fraction: 0.5, message: 'half' }],
      events: [{ type: 'greeted', payload: { name: 'you' } }],
    });
    // @ts-expect-error A name is a text.
    const wrong = await runJob(greet, { name: 5 });
    expect(wrong).toMatchObject({ status: 'failed', error: { code: 'PAYLOAD_INVALID' } });
  });

  test('decides about failures as a worker does', async () => {
    const failing = (error: Error) =>
      defineJob({
        key: 'failing',
        retry: { baseMs: 3_000 },
        run: () => {
          throw error;
        },
      });
    const retried = await runJob(failing(new Error('no')), {}, { attempt: 2 });
    expect(retried).toMatchObject({ status: 'retrying', nextInMs: 6_000 });
    const last = await runJob(failing(new Error('no')), {}, { attempt: 3 });
    expect(last).toMatchObject({ status: 'failed', error: { code: 'HANDLER_ERROR' } });
    const asked = await runJob(failing(new RetryAfter(70)), {});
    expect(asked).toMatchObject({ status: 'retrying', nextInMs: 70 });
    expect(await runJob(failing(new NonRetryable('no')), {})).toMatchObject({ status: 'failed' });
  });

  test('goes on after an earlier attempt with what that one stored', async () => {
    const first = await runJob(twoSteps, {});
    expect(first).toMatchObject({ status: 'retrying', steps: { first: 1 }, checkpoint: { at: 1 } });
    const second = await runJob(twoSteps, {}, { after: first });
    expect(second).toMatchObject({ attempt: 2, status: 'succeeded' });
    expect(second.result).toEqual({ first: 1, last: { at: 2 } });
    expect(await runJob(twoSteps, {}, { attempt: 2, steps: { first: 'told' } })).toMatchObject({
      result: { first: 'told' },
    });
  });

  test('ends by its timeout, by a cancel and by a snooze', async () => {
    const waiting = defineJob({
      key: 'waiting',
      timeoutSeconds: 0.02,
      run: async (_params: unknown, { abortSignal }) =>
        await new Promise((_resolve, reject) => {
          abortSignal.addEventListener('abort', () => reject(abortSignal.reason as Error));
        }),
    });
    expect(await runJob(waiting, {})).toMatchObject({ error: { code: 'TIMEOUT' } });
    const cancelled = await runJob(waiting, {}, { signal: AbortSignal.abort() });
    expect(cancelled).toMatchObject({ status: 'cancelled', error: null });
    const snoozing = defineJob({ key: 'snoozing', run: (_params: unknown, ctx) => ctx.snooze(9) });
    const snoozed = await runJob(snoozing, {});
    expect(snoozed).toMatchObject({ status: 'scheduled', nextInMs: 9 });
    expect(await runJob(snoozing, {}, { after: snoozed })).toMatchObject({ attempt: 1 });
  });

  test('refuses what cannot run here', async () => {
    const command = defineCommand({ key: 'count', command: ['wc'] });
    await expect(runJob(command, {})).rejects.toThrow('createTestRig');
    await expect(runJob(twoSteps, { size: 1n })).rejects.toThrow('params/size');
    const crashing = await runJob(faulty(greet, { fault: 'crash' }), { name: 'a' });
    expect(crashing.error?.message).toContain('needs a process of its own');
  });
});

describe('children', () => {
  const parent = defineJob({
    key: 'parent',
    run: async ({ count }: { count: number }, ctx) => {
      const entries = Array.from({ length: count }, (_, n) => ({ definition: 'x', params: { n } }));
      const ids = await ctx.spawnMany(entries);
      const outcomes = await ctx.waitForChildren();
      return [ids.length, outcomes.map(({ result }) => result)];
    },
  });

  test('are returned, and their outcomes continue the job', async () => {
    const first = await runJob(parent, { count: 2 });
    expect(first).toMatchObject({
      status: 'suspended',
      nextInMs: null,
      children: [
        { name: '#1', definitionKey: 'x', params: { n: 0 } },
        { name: '#2', definitionKey: 'x', params: { n: 1 } },
      ],
    });
    const children = [{ result: 'a' }, { result: 'b' }];
    const second = await runJob(parent, { count: 2 }, { after: first, children });
    expect(second).toMatchObject({ status: 'succeeded', attempt: 1, result: [2, ['a', 'b']] });
    expect(second.children).toEqual(first.children);
    const half = await runJob(parent, { count: 2 }, { after: first, children: [{ result: 'a' }] });
    expect(half.status).toBe('suspended');
  });

  test('that did not succeed fail the job', async () => {
    const first = await runJob(parent, { count: 1 });
    const children = [{ state: 'failed' }] as const;
    const second = await runJob(parent, { count: 1 }, { after: first, children });
    expect(second).toMatchObject({ status: 'failed', error: { code: 'CHILDREN_FAILED' } });
  });

  test('may be omitted, with a warning', async () => {
    const first = await runJob(parent, { count: 2 });
    const children = [{ result: 'a' }, { omitted: true }] as const;
    const second = await runJob(parent, { count: 2 }, { after: first, children });
    expect(second.result).toEqual([2, ['a', null]]);
    expect(second.logs.map(({ message }) => message)).toEqual([
      expect.stringContaining('1 of 2 outcomes of children are omitted'),
    ]);
  });

  test('of another order are the stored ones, with a warning', async () => {
    const first = await runJob(parent, { count: 1 });
    const other = { ...first, children: first.children.map((one) => ({ ...one, params: 'old' })) };
    const again = await runJob(parent, { count: 1 }, { after: other, children: [{}] });
    expect(again.status).toBe('succeeded');
    expect(again.logs.map(({ level, message }) => `${level} ${message}`)).toEqual([
      expect.stringContaining('warn the child #1 exists as job'),
    ]);
  });
});

describe('a missing await', () => {
  const warnings = (run: { logs: { level: string; message: string }[] }) =>
    run.logs.filter(({ level }) => level === 'warn').map(({ message }) => message);
  const notAwaited = (call: string) =>
    `run() returned while ${call} was not awaited: is an await missing?`;

  const forgetful = (begin: (ctx: JobContext) => unknown, work: () => Promise<void>) =>
    defineJob({
      key: 'forgetful',
      run: async (_: unknown, ctx) => {
        void begin(ctx);
        await work();
        return { refunded: 30 };
      },
    });
  const now = async () => undefined;
  const later = async () => await new Promise<void>((resolve) => setTimeout(resolve, 20));

  test.each<[string, (ctx: JobContext) => unknown, object]>([
    ['waitFor("decision")', ({ waitFor }) => waitFor('decision'), { kind: 'suspended' }],
    ['sleep("2 days")', ({ sleep }) => sleep('2 days'), { kind: 'snoozed' }],
    [
      'waitForChildren()',
      async ({ spawn, waitForChildren }) => {
        void spawn('child');
        await waitForChildren();
      },
      { kind: 'suspended', children: true },
    ],
  ])('before %s is no success, whatever the code does meanwhile', async (call, begin, outcome) => {
    const soon = await runJob(forgetful(begin, now), {});
    expect(soon).toMatchObject({ outcome, result: undefined });
    expect(warnings(soon)).toEqual([notAwaited(call)]);
  });

  test('a sleep is over in the next run', async () => {
    const job = defineJob({
      key: 'napping',
      async run(_: unknown, ctx) {
        await ctx.sleep('2 days');
        await ctx.sleep('1 day');
        return 'up';
      },
    });
    const first = await runJob(job, {});
    expect(first).toMatchObject({ status: 'scheduled', nextInMs: 2 * 86_400_000 });
    const second = await runJob(job, {}, { after: first });
    expect(second).toMatchObject({ status: 'scheduled', nextInMs: 86_400_000 });
    expect(await runJob(job, {}, { after: second })).toMatchObject({ result: 'up', attempt: 1 });
  });

  test('before waitFor is no success when the wait ended the attempt first', async () => {
    const run = await runJob(
      forgetful(({ waitFor }) => waitFor('decision'), later),
      {},
    );
    expect(run).toMatchObject({ status: 'suspended', result: undefined });
    expect(warnings(run)).toEqual([
      'run() returned after waitFor("decision") had ended the attempt: is an await missing, or was its error caught?',
    ]);
  });

  test('before waitFor lets the job go on when the signal is there, and fail when it is not', async () => {
    const job = defineJob({
      key: 'hasty',
      run(_: unknown, ctx) {
        void ctx.waitFor('decision');
        return { refunded: 30 };
      },
    });
    const decided = await runJob(job, {}, { signals: { decision: true } });
    expect(decided).toMatchObject({ status: 'succeeded', result: { refunded: 30 } });
    expect(warnings(decided)).toEqual([notAwaited('waitFor("decision")')]);
    const late = await runJob(job, {}, { steps: { 'timeout:decision': true } });
    expect(late).toMatchObject({ status: 'failed', error: { code: 'SIGNAL_TIMEOUT' } });
  });

  test('before a step gives a warning', async () => {
    const job = forgetful(({ step }) => step('mail', later), now);
    const run = await runJob(job, {});
    expect(run.status).toBe('succeeded');
    expect(warnings(run)).toEqual([
      'step "mail" was still running when run() returned: is an await missing?',
    ]);
  });

  test('is not suspected where two waits are awaited together', async () => {
    const job = defineJob({
      key: 'both',
      run: async (_: unknown, ctx) => await Promise.all([ctx.waitFor('a'), ctx.waitFor('b')]),
    });
    const run = await runJob(job, {});
    expect(run).toMatchObject({ status: 'suspended', logs: [] });
  });
});
