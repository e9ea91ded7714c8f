import { FIRST_STATES, isLegal } from '../../../../src/core/job/transitions.ts';
import { invariant } from '../../invariant.ts';

export const legalMoves = invariant(
  'S4',
  'Only the moves of the published table occur.',
  function* ({ records }) {
    for (const { id, moves } of records.values()) {
      for (const [index, { from, to }] of moves.entries()) {
        if (index === 0 && to && !from) {
          if (!FIRST_STATES.includes(to.state)) {
            yield { job: id, text: `was born ${to.state}` };
          }
        } else if (from && to && from.state !== to.state && !isLegal(from.state, to.state)) {
          yield { job: id, text: `went from ${from.state} to ${to.state}` };
        }
      }
    }
  },
);
