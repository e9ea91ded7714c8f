import { isTerminal } from '../../../../src/core/job/job.ts';
import { invariant } from '../../invariant.ts';
import type { Operation } from '../../operations.ts';
import { CLOCK_SLACK, type JobRecord } from '../../job-records.ts';

export const cancels = invariant(
  'S17',
  'A cancelled job that waits never starts; a running one is cancelled or finishes, never retried.',
  function* ({ operations, records, history }) {
    const asked = new Set<string>();
    const batches = new Set<string>();
    for (const operation of operations) {
      if (operation.call.name === 'cancel-batch') batches.add(operation.call.batch);
      if (operation.call.name !== 'cancel') continue;
      const record = records.get(operation.call.job);
      if (operation.result !== 'fail') asked.add(operation.call.job);
      const text = record && problem(operation, record);
      if (text) yield { job: operation.call.job, text };
    }
    for (const batch of batches) asked.add(batch);
    for (const { batch, job } of history.members) if (batches.has(batch)) asked.add(job);
    for (const { id, final, wanted } of records.values()) {
      // A job after others may be cancelled with its parent (S30).
      if (wanted?.after?.some((parent) => records.get(parent)?.final?.state !== 'succeeded'))
        continue;
      if (final?.state === 'cancelled' && !asked.has(id)) {
        yield { job: id, text: 'is cancelled without a request' };
      }
    }
  },
);

function problem(operation: Operation, record: JobRecord): string | null {
  const { result, jobs, status, endedAt } = operation;
  const state = record.final?.state;
  if (result === 'ok') {
    const answer = jobs[0]?.status;
    if (answer === 'cancelled') {
      if (state !== 'cancelled') return `was answered cancelled and is ${state}`;
      const began = record.executions.some(({ startAt }) => startAt > endedAt);
      return began ? 'was answered cancelled and began after that' : null;
    }
    const stopped = state === 'cancelled' || state === 'succeeded';
    return stopped ? null : `was answered ${answer} and is ${state}`;
  }
  if (result !== 'fail' || status !== 409) return null;
  const ended = record.moves.some(
    ({ to, at }) => to !== null && isTerminal(to.state) && at <= endedAt + CLOCK_SLACK,
  );
  return ended ? null : 'was refused as ended, and had not ended';
}
