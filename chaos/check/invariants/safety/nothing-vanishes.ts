import { invariant } from '../../invariant.ts';

/** Retention removes what ended long ago. A run is shorter than that, so nothing may be gone. */
export const nothingVanishes = invariant(
  'S24',
  'No row disappears: what leaves a place arrives at another one.',
  function* ({ records }) {
    for (const { id, moves, final } of records.values()) {
      const gone = moves.find(({ to }) => to === null);
      if (gone) yield { job: id, text: `left ${gone.from?.place} and arrived nowhere` };
      if (moves.length > 0 && !final) yield { job: id, text: 'is no longer stored' };
    }
  },
);
