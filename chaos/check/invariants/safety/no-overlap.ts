import type { Micros } from '../../../history/history.ts';
import { invariant, ms } from '../../invariant.ts';

/** Killing takes a moment, and a busy machine is late with its timers. */
export const GRACE: Micros = 500_000;

/** Inline jobs are the stated exception: the worker itself runs them and cannot be killed for it. */
export const noOverlap = invariant(
  'S10',
  'A job is not run twice at the same time, and one claim runs it once.',
  function* ({ records }) {
    for (const { id, executions } of records.values()) {
      for (const [index, execution] of executions.entries()) {
        if (!execution.claim) {
          yield { job: id, text: `execution ${execution.id} began without a claim` };
        }
        const earlier = executions.slice(0, index);
        for (const other of earlier) {
          if (other.claim && other.claim === execution.claim) {
            yield { job: id, text: `claim ${other.claim.number} was run twice` };
          }
          const overlap = other.lastAt - execution.startAt;
          if (other.isolation !== 'inline' && overlap > GRACE) {
            const who = `attempt ${other.attempt} and attempt ${execution.attempt}`;
            yield { job: id, text: `${who} ran at the same time for ${ms(overlap)}` };
          }
        }
      }
    }
  },
);
