import { invariant, ms } from '../../invariant.ts';
import { GRACE } from './no-overlap.ts';

/** What was still running when its lease ended would do its work beside the next attempt. */
export const selfFence = invariant(
  'S11',
  'Nothing outlives its lease: a job of a lost worker has stopped by the end of the lease.',
  function* ({ records, instances }) {
    for (const { id, executions } of records.values()) {
      for (const { claim, lastAt, isolation, attempt } of executions) {
        if (isolation === 'inline' || claim?.ending?.errorCode !== 'LEASE_EXPIRED') continue;
        const instance = instances.get(claim.worker);
        // A worker that is back under another id may have ended its lease itself.
        const leaseEnd = Math.min(instance?.leaseEnd ?? lastAt, instance?.death?.at ?? Infinity);
        const late = lastAt - leaseEnd;
        if (late > GRACE) {
          yield { job: id, text: `attempt ${attempt} was alive ${ms(late)} after its lease` };
        }
      }
    }
  },
);
