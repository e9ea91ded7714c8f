import { invariant } from '../../invariant.ts';

export const readYourWrites = invariant(
  'S25',
  'What was acknowledged can be read at once, through every server.',
  function* ({ operations, enqueues }) {
    const acknowledgedAt = new Map<string, number>();
    for (const { result, jobs, endedAt } of enqueues) {
      if (result !== 'ok') continue;
      for (const { id } of jobs) if (!acknowledgedAt.has(id)) acknowledgedAt.set(id, endedAt);
    }
    for (const { call, result, status, invokedAt, api } of operations) {
      if (call.name !== 'get' || result !== 'fail' || status !== 404) continue;
      if ((acknowledgedAt.get(call.job) ?? Number.POSITIVE_INFINITY) < invokedAt) {
        yield { job: call.job, text: `was acknowledged, and ${api} did not know it` };
      }
    }
  },
);
