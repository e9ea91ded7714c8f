import { invariant } from '../../invariant.ts';
import { lastSpot } from '../../job-records.ts';

export const recount = invariant(
  'S22',
  'At rest the tables agree with the history: each job in one place, with the numbers it earned.',
  function* ({ records }) {
    for (const record of records.values()) {
      const { id, final, moves, claims } = record;
      const crowded = moves.find(({ more }) => more.length > 0);
      if (crowded) yield { job: id, text: `moved twice in transaction ${crowded.xid}` };
      const spot = lastSpot(record);
      if (!final || !spot) continue;
      if (final.places !== 1) yield { job: id, text: `is in ${final.places} places` };
      const { state, claim, attempts } = final;
      if (state !== spot.state || claim !== spot.claim || attempts !== spot.attempts) {
        const was = `${spot.state}, claim ${spot.claim}, ${spot.attempts} attempts`;
        yield { job: id, text: `is ${state}, claim ${claim}, ${attempts} attempts; was ${was}` };
      }
      const written = claims.filter(({ ending }) => ending !== null).length;
      if (final.attemptRows !== written) {
        yield {
          job: id,
          text: `has ${final.attemptRows} attempts stored, ${written} were written`,
        };
      }
    }
  },
);
