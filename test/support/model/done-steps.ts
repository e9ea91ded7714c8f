import fc from 'fast-check';
import { expect } from 'vitest';
import { isTerminal, NO_USAGE } from '../../../src/core/job/job.ts';
import { RETRY_MODES, type RetryMode } from '../../../src/core/failure/retry.ts';
import { deleteJob } from '../../../src/store/change/delete-jobs.ts';
import { retryJob } from '../../../src/store/change/retry-job.ts';
import { aChange, target } from './change-steps.ts';
import type { Model, ModelJob } from './model.ts';
import { type Step, step } from './step.ts';
import type { World } from './world.ts';

/** What a person can do about a job that has ended. */

const PAST = new Date('2020-01-01');
const FAR = new Date('2100-01-01');

const aRetry = fc.record({
  change: aChange,
  mode: fc.constantFrom(...RETRY_MODES),
  /** Only `later` heeds it. */
  far: fc.boolean(),
  edited: fc.boolean(),
});

const failedOrCancelled = ({ state }: ModelJob) => state === 'failed' || state === 'cancelled';

export const retryStep: fc.Arbitrary<Step> = aRetry.map((use) =>
  step('retry', use, async (model, world) => {
    const { id, tenant, job } = target(model, use.change, failedOrCancelled);
    const { mode, far, edited } = use;
    const wish = { mode, runAt: far ? FAR : PAST, paramsJson: edited ? '{"edited":true}' : null };
    const answer = await retryJob(world.db, tenant, id, wish);
    if (!job) return expect(answer).toEqual({ kind: 'missing' });
    if (!failedOrCancelled(job)) {
      return expect(answer).toEqual({ kind: 'refused', status: job.state });
    }
    retryInModel(model, world, job, { mode, far });
    if (edited) {
      model.change(id, { params: { edited: true } });
      world.note('a job is retried with other params');
    }
    expect(answer).toEqual({ kind: 'changed', status: model.job(id).state });
  }),
);

/** It waits again, with an attempt to spend; how it had ended stays to be read. */
function retryInModel(
  model: Model,
  world: World,
  job: ModelJob,
  { mode, far }: { mode: RetryMode; far: boolean },
): void {
  const { id, attempts, maxAttempts, claim, error } = job;
  const never = job.worker === null;
  if (never) world.note('a job that never ran is retried');
  const end = { claim: claim + 1, number: attempts, worker: null, usage: NO_USAGE, error };
  const waits = mode === 'later' && far;
  const fresh = mode === 'reset';
  model.change(id, {
    state: waits ? 'scheduled' : 'queued',
    position: waits ? null : model.nextPosition(),
    runAt: waits ? { waitMs: null, due: false } : null,
    attempts: fresh ? 0 : attempts,
    maxAttempts:
      fresh || maxAttempts === null || attempts < maxAttempts ? maxAttempts : attempts + 1,
    claim: claim + 1,
    interruptions: 0,
    worker: null,
    cancelRequested: false,
    progress: null,
    error: null,
    usage: NO_USAGE,
    tried: never ? [...job.tried, end] : job.tried,
  });
}

export const deleteStep: fc.Arbitrary<Step> = aChange.map((use) =>
  step('delete', use, async (model, world) => {
    const { id, tenant, job } = target(model, use, ({ state }) => isTerminal(state));
    const answer = await deleteJob(world.db, tenant, id);
    if (!job) return expect(answer).toEqual({ kind: 'missing' });
    const ended = isTerminal(job.state);
    expect(answer).toEqual({ kind: ended ? 'changed' : 'refused', status: job.state });
    if (!ended) return;
    model.jobs.delete(id);
    world.note('a job is deleted');
  }),
);
