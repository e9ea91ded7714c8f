import { invariant } from '../../invariant.ts';

/** A worker got the answer "stale": no write of that claim may have been stored. */
export const honestRefusals = invariant(
  'S8',
  'An outcome that was refused as stale was not stored.',
  function* ({ history, records }) {
    for (const { what, job, claim: number } of history.notices) {
      if (what !== 'stale-refused' || job === undefined) continue;
      const claim = records.get(job)?.claims.find((one) => one.number === number);
      const stored = claim?.end?.to?.execution ?? claim?.ending?.execution;
      if (stored) {
        yield { job, text: `claim ${number} was refused as stale, and its outcome is stored` };
      }
    }
  },
);
