import { FIRST_STATES, isLegal } from '../../../../src/core/job/lifecycle.ts';
import { invariant } from '../../invariant.ts';

export const legalMoves = invariant(
  'S4',
  'Only the moves of the published table occur.',
  function* ({ stories }) {
    for (const { id, moves } of stories.values()) {
      for (const [index, { from, to }] of moves.entries()) {
        if (index === 0 && to && !from) {
          // A job may be handed over: made and claimed for the first time in one transaction.
          const handedOver = to.state === 'running' && to.claim === 1;
          if (!handedOver && !FIRST_STATES.includes(to.state)) {
            yield { job: id, text: `was born ${to.state}` };
          }
        } else if (from && to && from.state !== to.state && !isLegal(from.state, to.state)) {
          yield { job: id, text: `went from ${from.state} to ${to.state}` };
        }
      }
    }
  },
);
