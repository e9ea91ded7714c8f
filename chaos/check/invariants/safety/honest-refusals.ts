import { invariant } from '../../invariant.ts';

/** A worker was told "stale": then nothing of that claim's own may have been stored. */
export const honestRefusals = invariant(
  'S8',
  'An outcome that was refused as stale was not stored.',
  function* ({ history, stories }) {
    for (const { what, job, claim: number } of history.notices) {
      if (what !== 'stale-refused' || job === undefined) continue;
      const claim = stories.get(job)?.claims.find((one) => one.number === number);
      const stored = claim?.end?.to?.execution ?? claim?.ending?.execution;
      if (stored) {
        yield { job, text: `claim ${number} was refused as stale, and its outcome is stored` };
      }
    }
  },
);
