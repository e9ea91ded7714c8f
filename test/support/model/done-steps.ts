import fc from 'fast-check';
import { expect } from 'vitest';
import { isTerminal, NO_USAGE } from '../../../src/core/job/job.ts';
import { RETRY_MODES, type RetryMode } from '../../../src/core/failure/retry.ts';
import { deleteJob } from '../../../src/store/change/delete-jobs.ts';
import { retryJob } from '../../../src/store/change/retry-job.ts';
import { aChange, target } from './change-steps.ts';
import { isUnsuccessful, type Model, type ModelJob, PARENTS } from './model.ts';
import { type Step, step } from './step.ts';
import { holdsKey, uniqueName } from './unique-steps.ts';
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
    const retryRequest = {
      mode,
      runAt: far ? FAR : PAST,
      paramsJson: edited ? '{"edited":true}' : null,
    };
    const answer = await retryJob(world.db, tenant, id, retryRequest);
    if (!job) return expect(answer).toEqual({ kind: 'missing' });
    if (job.batch && edited) {
      world.note('a retry is refused: the params of a batch cannot be edited');
      return expect(answer).toMatchObject({ kind: 'forbidden' });
    }
    const parent = job.parents.find(isUnsuccessful);
    if (parent) {
      world.note('a retry is refused: a parent did not succeed');
      return expect(answer).toEqual({ kind: 'parent', id: parent.id });
    }
    const holder = failedOrCancelled(job) ? retakeKey(model, job) : null;
    if (holder !== null) {
      world.note('a retry is refused: another job holds its unique key');
      return expect(answer).toEqual({ kind: 'taken', by: holder });
    }
    if (!failedOrCancelled(job)) {
      return expect(answer).toEqual({ kind: 'refused', status: job.state });
    }
    retryInModel(model, world, job, { mode, far });
    revive(model, world, id);
    if (edited) {
      model.change(id, { params: { edited: true } });
      world.note('a job is retried with other params');
    }
    expect(answer).toEqual({ kind: 'changed', status: model.job(id).state });
  }),
);

/** Takes the unique key of the job again; the answer is the living job that holds it. */
function retakeKey(model: Model, job: ModelJob): string | null {
  if (!job.unique) return null;
  const name = uniqueName(job, job.unique.key);
  const holder = model.jobs.get(model.keys.get(name)?.id ?? '');
  const other = holder !== undefined && holder.id !== job.id && !isTerminal(holder.state);
  if (other && holdsKey(job.unique.while, holder)) return holder.id;
  model.keys.set(name, { id: job.id, meaning: '' });
  return null;
}

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
  const suspends = job.parents.some(({ ended }) => ended === null);
  const waits = mode === 'later' && far && !suspends;
  const fresh = mode === 'reset';
  model.change(id, {
    state: suspends ? 'suspended' : waits ? 'scheduled' : 'queued',
    waitsFor: suspends ? PARENTS : null,
    position: waits || suspends ? null : model.nextPosition(),
    watched: [...model.jobs.values()].some(({ parents, children }) =>
      [...parents, ...children].some((one) => one.id === id),
    ),
    // A batch cannot make its jobs again.
    children: fresh && !job.batch ? [] : job.children,
    runAt: waits ? { waitMs: null, due: false } : null,
    attempts: fresh ? 0 : attempts,
    maxAttempts:
      fresh || maxAttempts === null || attempts < maxAttempts ? maxAttempts : attempts + 1,
    claim: claim + 1,
    interruptions: 0,
    worker: null,
    cancelRequested: false,
    progress: null,
    result: null,
    error: null,
    usage: NO_USAGE,
    tried: never ? [...job.tried, end] : job.tried,
    signals: fresh ? {} : job.signals,
    timeouts: [],
  });
}

/** The jobs that failed because of it wait for it again, and those that failed because of them. */
function revive(model: Model, world: World, id: string): void {
  model.ends.delete(id);
  for (const { id: parent, children } of model.jobs.values()) {
    if (!children.some((child) => child.id === id && child.ended !== null)) continue;
    world.note('a retried child is waited for again');
    model.change(parent, {
      children: children.map((child) => (child.id === id ? { ...child, ended: null } : child)),
    });
    const { batch, state, error } = model.job(parent);
    if (!batch || state !== 'failed' || error?.code !== 'BATCH_FAILED') continue;
    world.note('a batch waits again for a job that is retried alone');
    retryInModel(model, world, model.job(parent), { mode: 'now', far: false });
    revive(model, world, parent);
  }
  for (const { id: follower } of model.jobs.values()) {
    const { state, waitsFor, error, parents } = model.job(follower);
    if (!parents.some((parent) => parent.id === id && parent.ended !== null)) continue;
    const failed = state === 'failed' && error?.code === 'PARENT_FAILED';
    if (!failed && waitsFor !== PARENTS) continue;
    const opened = parents.map((one) => (one.id === id ? { ...one, ended: null } : one));
    model.change(follower, { parents: opened });
    if (!failed || opened.some(isUnsuccessful)) continue;
    world.note('a retry revives what failed because of the job');
    retryInModel(model, world, model.job(follower), { mode: 'now', far: false });
    revive(model, world, follower);
  }
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
