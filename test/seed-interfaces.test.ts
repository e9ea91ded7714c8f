import { expect, expectTypeOf, it } from 'vitest';
import * as longshore from '../src/index.ts';
import { runJob } from '../src/testing/index.ts';

/**
 * The interfaces of the appendix of document 000, to the letter. That this file compiles is the test: who
 * wrote jobs against them hands those to `defineJob` as they are.
 */
export type JobParams = Record<string, unknown>;

export interface JobContext {
  jobId: string;
  abortSignal: AbortSignal;
  logger: { info: (m: unknown) => void; error: (m: unknown) => void };
  emitEvent: (type: string, payload?: unknown) => Promise<void>;
}

export interface JobDefinition {
  key: string;
  version?: number;
  timeoutSeconds?: number;
  defaultMaxAttempts?: number;
  concurrencyLimit?: number;
  run: (params: JobParams, ctx: JobContext) => Promise<void>;
  onStart?: (ctx: JobContext) => Promise<void>;
  onSuccess?: (ctx: JobContext) => Promise<void>;
  onFail?: (ctx: JobContext & { error: unknown }) => Promise<void>;
  onEnd?: (ctx: JobContext) => Promise<void>;
}

const tell = (type: string) => async (ctx: JobContext) => await ctx.emitEvent(type, ctx.jobId);

const definition: JobDefinition = {
  key: 'mail.send',
  version: 2,
  timeoutSeconds: 5,
  defaultMaxAttempts: 4,
  concurrencyLimit: 3,
  async run(params, ctx) {
    ctx.logger.info(params);
    await ctx.emitEvent('sent', params).then(() => ctx.logger.error('not an error'));
  },
  onStart: tell('started'),
  onSuccess: tell('succeeded'),
  onFail: async (ctx) => ctx.logger.error(ctx.error),
  onEnd: tell('ended'),
};

it('takes a definition of document 000 and runs it', async () => {
  expectTypeOf<longshore.JobContext>().toExtend<JobContext>();
  expectTypeOf<longshore.HookContext>().toExtend<JobContext & { error: unknown }>();
  const job = longshore.defineJob(definition);
  expect(job.info).toMatchObject({
    key: 'mail.send',
    version: 2,
    timeoutMs: 5_000,
    maxAttempts: 4,
    limits: { concurrencyLimit: 3 },
    hooks: ['onStart', 'onSuccess', 'onFail', 'onEnd'],
  });
  const run = await runJob(job, { to: 'ada@example.com' });
  expect(run).toMatchObject({ status: 'succeeded', error: null });
  expect(run.events.map(({ type }) => type)).toEqual(['started', 'sent']);
});
