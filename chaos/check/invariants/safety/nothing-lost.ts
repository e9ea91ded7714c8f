import { isTerminal } from '../../../../src/core/job/job.ts';
import { invariant } from '../../invariant.ts';

/**
 * Looked up by id, never counted: a duplicate could make up for a loss in any count. Since every
 * process and the database are killed many times between an acknowledgement and the audit, this is
 * the promise of durability (S26) as well.
 */
export const nothingLost = invariant(
  'S1',
  'No acknowledged job is lost: each one is stored, and has ended when everything has drained.',
  function* ({ enqueues, records }) {
    for (const { result, jobs } of enqueues) {
      if (result !== 'ok') continue;
      for (const { id } of jobs) {
        const record = records.get(id);
        const state = record?.final?.state ?? null;
        if (!record || record.moves.length === 0) {
          yield { job: id, text: 'was acknowledged and never stored' };
        } else if (state === null) {
          yield { job: id, text: 'was acknowledged and is gone' };
        } else if (!isTerminal(state)) {
          yield { job: id, text: `was acknowledged and is still ${state}` };
        }
      }
    }
  },
);
