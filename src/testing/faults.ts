import { branded, type JobContext, type JobDefinition } from '../core/definition/define.ts';

export interface Fault {
  /**
   * `crash` ends the process of the job with SIGKILL, as the kernel does when memory is short.
   * `hang` blocks its event loop for ever: only the timeout ends it, with a kill.
   */
  fault: 'crash' | 'hang';
  /** The attempt that fails; default 1. */
  attempt?: number | undefined;
  /** Right after this step was stored; by default before the job starts. */
  afterStep?: string | undefined;
}

/**
 * The same definition with a fault. The fault is real, so the definition must be in a file that a
 * worker loads (the `jobs` of a test rig): in the test's own process it would end the test, and is
 * refused there.
 *
 * ```ts
 * export const report = faulty(realReport, { fault: 'crash', afterStep: 'query' });
 * ```
 */
export function faulty<Input, Result>(
  definition: JobDefinition<Input, Result>,
  { fault, attempt = 1, afterStep }: Fault,
): JobDefinition<Input, Result> {
  const run = definition.run as (params: unknown, ctx: JobContext) => Promise<Result> | Result;
  const { info, schema, hooks } = definition;
  return branded({
    info,
    schema,
    hooks,
    run: async (params: never, ctx: JobContext) => {
      if (ctx.attempt !== attempt) return await run(params, ctx);
      if (afterStep === undefined) return strike(fault);
      return await run(params, strikingAfter(ctx, afterStep, fault));
    },
  });
}

function strikingAfter(ctx: JobContext, afterStep: string, fault: Fault['fault']): JobContext {
  const step: JobContext['step'] = async (name, work) => {
    const value = await ctx.step(name, work);
    return name === afterStep ? strike(fault) : value;
  };
  return Object.create(ctx, { step: { value: step, enumerable: true } }) as JobContext;
}

/** The program of the processes that workers start for jobs. */
const RUNNER = /[\\/]worker[\\/]runner[\\/]main\.c?[jt]s$/;

function strike(fault: Fault['fault']): never {
  if (!RUNNER.test(process.argv[1] ?? '')) {
    throw new Error(
      `a ${fault} needs a process of its own: give createTestRig the path of a file as jobs, ` +
        `with isolation 'process' or 'fresh'`,
    );
  }
  if (fault === 'crash') process.kill(process.pid, 'SIGKILL');
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (;;) Atomics.wait(never, 0, 0);
}
