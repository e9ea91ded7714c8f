import { isTerminal } from '../../../../src/core/job/job.ts';
import { invariant } from '../../invariant.ts';
import type { Operation } from '../../operations.ts';
import { CLOCK_SLACK, type Story } from '../../stories.ts';

export const cancels = invariant(
  'S17',
  'A cancelled job that waits never starts; a running one is cancelled or finishes, never retried.',
  function* ({ operations, stories }) {
    const asked = new Set<string>();
    for (const operation of operations) {
      if (operation.call.name !== 'cancel') continue;
      const story = stories.get(operation.call.job);
      if (operation.result !== 'fail') asked.add(operation.call.job);
      const text = story && problem(operation, story);
      if (text) yield { job: operation.call.job, text };
    }
    for (const { id, final } of stories.values()) {
      if (final?.state === 'cancelled' && !asked.has(id)) {
        yield { job: id, text: 'is cancelled, and nobody had asked for it' };
      }
    }
  },
);

function problem(operation: Operation, story: Story): string | null {
  const { result, jobs, status, endedAt } = operation;
  const state = story.final?.state;
  if (result === 'ok') {
    const answer = jobs[0]?.status;
    if (answer === 'cancelled') {
      if (state !== 'cancelled') return `was answered cancelled and is ${state}`;
      const began = story.executions.some(({ startAt }) => startAt > endedAt);
      return began ? 'was answered cancelled and began after that' : null;
    }
    const stopped = state === 'cancelled' || state === 'succeeded';
    return stopped ? null : `was answered ${answer} and is ${state}`;
  }
  if (result !== 'fail' || status !== 409) return null;
  const ended = story.moves.some(
    ({ to, at }) => to !== null && isTerminal(to.state) && at <= endedAt + CLOCK_SLACK,
  );
  return ended ? null : 'was refused as ended, and had not ended';
}
