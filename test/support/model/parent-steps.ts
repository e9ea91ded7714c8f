import fc from 'fast-check';
import { expect } from 'vitest';
import { isTerminal } from '../../../src/core/job/job.ts';
import { isJobId } from '../../../src/core/job/job-id.ts';
import { resolveEnded } from '../../../src/store/edges/resolve-ended.ts';
import { addJob, aUse, requestOf } from './enqueue-steps.ts';
import { PARENTS } from './model.ts';
import { aJob, findJob } from './picks.ts';
import { type Step, step } from './step.ts';

const anAfter = fc.record({
  use: aUse.map((use) => ({ ...use, time: 'now', key: null })),
  parents: fc.array(aJob, { minLength: 1, maxLength: 3 }),
  onFailure: fc.constantFrom('fail', 'fail', 'run', 'cancel'),
  /** Whether parents of other tenants are named. */
  foreign: fc.constantFrom(false, false, false, false, true),
});

/** A job that waits for others, which may have ended, or may not exist. */
export const enqueueAfterStep: fc.Arbitrary<Step> = anAfter.map((how) =>
  step('enqueueAfter', how, async (model, world) => {
    const { use, onFailure, foreign } = how;
    const request = requestOf(world, use);
    const isOwn = ({ tenant }: { tenant: string }) => foreign || tenant === request.tenant;
    const picked = how.parents.map((pick) => findJob(model, pick, isOwn).id).filter(isJobId);
    const jobs = [...new Set(picked)];
    if (jobs.length === 0) return;
    const storing = world.enqueuer.start([{ ...request, after: { jobs, onFailure } }]);
    const answer = await storing.catch((error: unknown) => error);
    const unknown = jobs.findIndex((id) => model.jobs.get(id)?.tenant !== request.tenant);
    if (unknown >= 0) {
      world.note('a job after an unknown one is refused');
      return expect(answer).toMatchObject({ name: 'ParentUnknown', index: 0, position: unknown });
    }
    const [{ jobId: id }] = answer as [{ jobId: string }];
    expect(answer).toEqual([{ jobId: id, status: 'suspended', created: true }]);
    addJob(model, world, id, use);
    const parents = jobs.map((one) => ({ id: one, onFailure, ended: null }));
    const waits = { state: 'suspended', position: null, waitsFor: PARENTS, parents } as const;
    model.change(id, waits);
    let ended = false;
    for (const parent of jobs.map((one) => model.job(one))) {
      if (isTerminal(parent.state)) {
        model.ends.set(parent.id, parent.state);
        ended = true;
      } else if (!parent.watched) {
        model.change(parent.id, { watched: true });
      }
    }
    if (ended && model.resolve()) world.note('the end of a parent moves a job on');
    if (model.jobs.get(id)?.state === 'suspended') world.note('new -> suspended');
  }),
);

export const resolveStep: fc.Arbitrary<Step> = fc.constantFrom(1, 2, 100).map((limit) =>
  step('resolve', limit, async (model, world) => {
    while ((await resolveEnded(world.db, 0, limit)).more);
    if (model.resolve()) world.note('the end of a parent moves a job on');
  }),
);
