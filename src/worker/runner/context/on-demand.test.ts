import { expect, test } from 'vitest';
import { defineJob, type JobContext } from '../../../core/definition/define.ts';
import type { Outcome } from '../../../core/job/lifecycle.ts';
import type { FromRunner } from '../../ipc.ts';
import { JobRun } from '../job-run.ts';
import { byName } from '../run.ts';

const JOB = { id: 'job-1', tenant: 'shop', claim: 7, attempt: 2, maxAttempts: 3 };

/** Runs the code at once, as a job; returns its result, and what was sent. */
function ran(run: (...args: never[]) => unknown) {
  const sent: FromRunner[] = [];
  let outcome: Outcome | undefined;
  const definition = defineJob({ key: 'tiny', run: run as (params: object) => null });
  const job = { ...JOB, key: 'tiny', version: 1, params: {} };
  const port = {
    nowMs: () => 0,
    publicUrl: null,
    sharesProcess: false,
    send: (message: FromRunner) => void sent.push(message),
    onOutcome: (_: JobRun, end: Outcome) => (outcome = end),
  };
  new JobRun(job, port).start(byName([definition]));
  const { resultJson } = outcome as unknown as { resultJson: string };
  return { result: JSON.parse(resultJson) as unknown, sent };
}

/** Ways to get a context without a second parameter. */
const READERS: Record<
  string,
  (use: (ctx: JobContext) => unknown) => (...args: never[]) => unknown
> = {
  'a rest parameter':
    (use) =>
    (...args: unknown[]) =>
      use(args[1] as JobContext),
  arguments: (use) =>
    function () {
      // oxlint-disable-next-line prefer-rest-params
      return use(arguments[1] as JobContext);
    },
  'a default':
    (use) =>
    (_: object, ctx = {} as JobContext) =>
      use(ctx),
  'a second parameter': (use) => (_: object, ctx: JobContext) => use(ctx),
};

test.each(Object.entries(READERS))('code with %s gets the whole context', (_, reader) => {
  const facts = reader(({ jobId, tenant, attempt }) => [jobId, tenant, attempt]);
  expect(ran(facts).result).toEqual(['job-1', 'shop', 2]);

  const copied = reader((ctx) => {
    const { progress, ...copy } = { ...ctx };
    progress(0.5, 'half');
    return [Object.keys(copy).sort(), copy.abortSignal.aborted, 'sleep' in ctx];
  });
  const { result, sent } = ran(copied);
  const [names] = result as [string[]];
  expect(names).toEqual(expect.arrayContaining(['abortSignal', 'jobId', 'logger', 'spawn']));
  expect(result).toEqual([names, false, true]);
  expect(sent).toEqual([{ type: 'progress', claim: 7, fraction: 0.5, message: 'half' }]);

  const changed = reader((ctx) => {
    const open = ctx as unknown as Record<string, unknown>;
    open['own'] = 1;
    Object.defineProperty(open, 'more', { value: 2, enumerable: true, configurable: true });
    delete open['tenant'];
    return [
      open['own'],
      open['more'],
      'tenant' in open,
      Object.getPrototypeOf(open) === Object.prototype,
    ];
  });
  expect(ran(changed).result).toEqual([1, 2, false, true]);
});
