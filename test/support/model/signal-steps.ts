import fc from 'fast-check';
import { expect } from 'vitest';
import { isTerminal } from '../../../src/core/job/job.ts';
import { signalJob } from '../../../src/store/change/signal-job.ts';
import { aChange, target } from './change-steps.ts';
import { BATCH_CANCELLED, BATCH_OPEN, CHILDREN, PARENTS } from './model.ts';

import { type Step, step } from './step.ts';

/** What is no signal. */
const OTHERS = [PARENTS, CHILDREN, BATCH_OPEN, BATCH_CANCELLED];

const aSignal = fc.record({
  change: aChange,
  name: fc.constantFrom('go', 'go', 'stop'),
  payloadJson: fc.constantFrom('{"a":1,"b":2}', '{"b":2,"a":1}', '2'),
});

/** Each signal of a job is stored once; a job that waits for it is queued. */
export const signalStep: fc.Arbitrary<Step> = aSignal.map((use) =>
  step('signal', use, async (model, world) => {
    const { name, payloadJson } = use;
    const { id, tenant, job } = target(
      model,
      use.change,
      ({ state, waitsFor, timeouts }) =>
        (state === 'suspended' && !OTHERS.includes(waitsFor ?? '')) || timeouts.length > 0,
    );
    const answer = await signalJob(world.db, tenant, id, { name, payloadJson });
    if (!job) return expect(answer).toEqual({ kind: 'missing' });
    const stored = job.signals[name];
    if (stored !== undefined) {
      const same = (stored === '2') === (payloadJson === '2');
      world.note(same ? 'a signal is repeated' : 'another payload is refused');
      const again = { kind: 'stored', status: job.state, duplicate: true };
      return expect(answer).toEqual(same ? again : { kind: 'different' });
    }
    if (isTerminal(job.state)) {
      return expect(answer).toEqual({ kind: 'refused', status: job.state });
    }
    if (job.timeouts.includes(name)) {
      world.note('a signal is too late');
      return expect(answer).toEqual({ kind: 'late' });
    }
    model.change(id, { signals: { ...job.signals, [name]: payloadJson } });
    if (model.resume(id)) world.note('a signal resumes its job');
    const { state: status } = model.job(id);
    model.passPermits();
    expect(answer).toEqual({ kind: 'stored', status, duplicate: false });
  }),
);
